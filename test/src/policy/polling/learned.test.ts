import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pollFixed, type PollJob } from '../../../../src/policy/polling/poll-schedule.js';
import { pollLearned } from '../../../../src/policy/polling/learned.js';
import { createRandom, lognormalRunTimes } from '../../../bench/polling/lognormal-run-times.js';
import { optimum } from '../../../bench/polling/optimum.js';
import { type Scenario, simulate } from '../../../bench/polling/simulate.js';

const scenario = (more: Partial<Scenario> = {}): Scenario => ({
  jobs: 400,
  inFlight: 50,
  workers: Number.POSITIVE_INFINITY,
  runTime: lognormalRunTimes(8_000, 0.4, 11),
  ...more,
});
const priced =
  (msPerCall: number): Parameters<typeof simulate>[1] =>
  (scheduler) =>
    pollLearned({ msPerCall }, scheduler);

describe('pollLearned', () => {
  it('costs little more than the optimum that knows the distribution', () => {
    const cost = ({ callsPerJob, meanLagMs }: ReturnType<typeof simulate>) => 150 * callsPerJob + meanLagMs;
    const best = simulate(scenario(), (scheduler) =>
      optimum({ medianMs: 8_000, sigma: 0.4 }, 150, scheduler),
    );
    expect(cost(simulate(scenario(), priced(150)))).toBeLessThan(1.15 * cost(best));
  });

  it('asks early about the first job of an unknown endpoint, and ever more rarely', () => {
    const first = (runTimeMs: number) =>
      simulate(scenario({ jobs: 1, inFlight: 1, runTime: () => runTimeMs }), (scheduler) =>
        pollLearned({}, scheduler),
      );
    expect(first(5).meanLagMs).toBeLessThan(150);
    expect(first(60_000).callsPerJob).toBeLessThanOrEqual(14);
    expect(first(60_000).meanLagMs).toBeLessThan(10_000);
  });

  it('keeps slots as busy with jobs of 0 to 50 ms as polls every 25 ms do, and asks no more often', () => {
    const random = createRandom(7);
    const runTimes = Array.from({ length: 2_000 }, () => 50 * random());
    const short = scenario({ jobs: 2_000, runTime: (n) => runTimes[n % 2_000]! });
    const every25 = simulate(short, (scheduler) => pollFixed(25, scheduler));
    const asLearned = simulate(short, (scheduler) => pollLearned({}, scheduler));
    expect(asLearned.makespanMs).toBeLessThan(every25.makespanMs / 0.8);
    expect(asLearned.callsPerJob).toBeLessThanOrEqual(every25.callsPerJob);
  });

  it('asks no more for a deeper queue', () => {
    const shallow = simulate(scenario({ workers: 10 }), priced(150));
    const deep = simulate(scenario({ workers: 10, inFlight: 300 }), priced(150));
    expect(shallow.callsPerJob).toBeLessThan(5.6);
    expect(deep.callsPerJob).toBeLessThan(shallow.callsPerJob * 1.25);
  });

  it('starves no job when half of the queue is somebody else’s, or all of it at first', () => {
    const shared = simulate(scenario({ workers: 10, foreignInFlight: 50 }), priced(150));
    expect(shared.callsPerJob).toBeLessThan(9);
    expect(Math.max(...shared.lagsMs)).toBeLessThan(60_000);
    const behind = simulate(scenario({ workers: 10, inFlight: 100, foreignInFlight: 200 }), priced(150));
    expect(Math.max(...behind.lagsMs)).toBeLessThan(150_000);
  });

  it.each([
    [160, 20],
    [200, 5],
  ])(
    'asks about all jobs once they find free workers, though the queue seemed shared: %i in flight',
    (inFlight, step) => {
      const runTime = (n: number) => 200 + (n % 50) * step;
      const figures = simulate(scenario({ jobs: 1_500, inFlight, workers: 150, runTime }), priced(190));
      expect(figures.meanLagMs).toBeLessThan(700);
      expect(figures.callsPerJob).toBeLessThan(2);
    },
  );

  it('lives with a service that reports no times at all', () => {
    const figures = simulate(scenario({ workers: 10, silent: true }), priced(150));
    expect(figures.callsPerJob).toBeLessThan(12);
    expect(figures.meanLagMs).toBeLessThan(5_000);
  });

  it('has answers as soon where waiting jobs are polled only so that their results are not forgotten', () => {
    const queued = { workers: 4, inFlight: 200, jobs: 200 };
    const run = simulate(scenario(queued), priced(150));
    const runsync = simulate(scenario({ ...queued, sync: true }), priced(150));
    expect(runsync.meanLagMs).toBeLessThan(1.2 * run.meanLagMs);
  });

  it('lives with jobs that end in any order and workers that come and go', () => {
    const figures = simulate(
      scenario({ workers: 3, inFlight: 40, workersLater: { workers: 20, afterMs: 120_000 } }),
      priced(150),
    );
    expect(Math.max(...figures.lagsMs)).toBeLessThan(60_000);
    expect(figures.callsPerJob).toBeLessThan(8);
  });

  it.each([
    ['a delayTime of years', 0, 1e12],
    ['a submission that lies ahead, by a clock that was set back', 3_600_000, 5],
  ])('asks on in time after %s', (_, aheadMs, delayTime) => {
    const scheduler = new VirtualTimeScheduler(undefined, 60_000);
    const schedule = pollLearned({}, scheduler);
    let polls = 0;
    schedule.pollTimes({ key: 'a', submittedAt: aheadMs }).subscribe(() => {
      polls++;
      schedule.observe('a', { id: 'j', status: 'IN_PROGRESS', delayTime }, scheduler.now());
    });
    schedule.observe('a', { id: 'j', status: 'IN_PROGRESS', delayTime }, scheduler.now());
    scheduler.flush();
    expect(polls).toBeGreaterThan(1);
    expect(polls).toBeLessThan(1000);
  });

  it.each([
    ['/runsync', true, 30_000],
    ['/run', false, 900_000],
  ])('asks before the service may forget a result of %s', (_, sync, longestMs) => {
    const hour = 3_600_000;
    const kept = { runTimesMs: Array.from({ length: 400 }, (_value, n) => 5 * hour + n) };
    const waitsMs = (job: Partial<PollJob>, status: string, ahead: string[] = []) => {
      const scheduler = new VirtualTimeScheduler(undefined, 6 * hour);
      const schedule = pollLearned({ kept: { slow: kept } }, scheduler);
      const times: number[] = [];
      const polled = (key: string, state: string, more: Partial<PollJob> = {}) =>
        schedule.pollTimes({ key, submittedAt: 0, endpoint: 'slow', sync, ...more }).subscribe(() => {
          if (key === 'a') times.push(scheduler.now());
          schedule.observe(key, { id: key, status: state }, scheduler.now());
        });
      for (const key of ahead) polled(key, 'IN_PROGRESS');
      polled('a', status, job);
      scheduler.flush();
      return times.map((time, n) => time - (times[n - 1] ?? 0));
    };
    expect(Math.max(...waitsMs({}, 'IN_PROGRESS'))).toBeLessThanOrEqual(longestMs + 5);
    expect(Math.max(...waitsMs({ submittedAt: -400 * hour }, 'IN_PROGRESS'))).toBeLessThanOrEqual(
      longestMs + 5,
    );
    const behind = waitsMs({}, 'IN_QUEUE', ['b', 'c']);
    expect(Math.max(...behind)).toBeLessThanOrEqual(longestMs + 5);
  });
});
