import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { WorkerGate } from '../../../../runners/distributed/worker/worker-gate.js';
import { schedulerOf, VirtualClock } from '../../../simulate/virtual-clock.js';
import { visit } from '../../../support/virtual-time.js';

function setUp(takeTurns?: (turns: number) => Promise<{ inMs: number; everyMs: number }>) {
  const scheduler = new TestScheduler(() => undefined);
  const pauses: number[] = [];
  const gate = new WorkerGate(
    { pause: (forMs) => pauses.push(forMs), takeTurns },
    { scheduler, random: () => 1 },
  );
  const ask = (endpointId: string, kind: 'submit' | 'poll' = 'submit'): 'passes' | number | undefined => {
    let answer: 'passes' | number | undefined;
    gate
      .admit(visit(kind, 'k', endpointId))
      .subscribe({ next: ({ forMs }) => (answer = forMs), complete: () => (answer = 'passes') });
    return answer;
  };
  const refuse = (endpointId: string, times: number, retryAfterMs: number) => {
    for (let n = 0; n < times; n++)
      gate.observe({ ...visit('submit', 'k', endpointId), status: 429, retryAfterMs });
  };
  return { gate, pauses, ask, refuse, scheduler };
}

describe("a worker's gate", () => {
  it('does not pause after a single refusal', () => {
    const { pauses, ask, refuse } = setUp();
    expect(ask('one')).toBe('passes');
    refuse('one', 1, 60_000);
    expect(ask('one')).toBe('passes');
    expect(pauses).toStrictEqual([]);
  });

  it('pauses an endpoint that refuses half of 20 answers, and no other one; that is nobody else’s pause', () => {
    const { pauses, ask, refuse } = setUp();
    ask('bad');
    ask('good');
    refuse('bad', 10, 5_000);
    expect(ask('bad')).toBe(5_000);
    expect(ask('good')).toBe('passes');
    expect(pauses).toStrictEqual([]);
  });

  it('pauses the whole run where every endpoint that it asks refuses', () => {
    const { pauses, ask, refuse } = setUp();
    ask('one');
    ask('two');
    refuse('one', 10, 5_000);
    refuse('two', 10, 7_000);
    expect(pauses).toStrictEqual([5_000]);
  });

  it('obeys the pause of the run, but polls the jobs that it has', () => {
    const { gate, ask } = setUp();
    gate.hold(3_000);
    expect(ask('one')).toBeUndefined();
    expect(gate.tryPass(visit('submit', 'k', 'one'))).toBe(false);
    expect(ask('one', 'poll')).toBe('passes');
    expect(gate.tryPass(visit('poll', 'k', 'one'))).toBe(true);
  });

  it('takes turns for all that waits at once, and gives them to polls first', async () => {
    const taken: number[] = [];
    let give = (): void => undefined;
    const { gate } = setUp((turns) => {
      taken.push(turns);
      return new Promise((resolve) => (give = () => resolve({ inMs: 0, everyMs: 0 })));
    });
    const passed: string[] = [];
    const come = (name: string, kind: 'submit' | 'poll') =>
      gate.admit(visit(kind, name, 'one')).subscribe({ complete: () => passed.push(name) });
    come('first', 'submit');
    come('second', 'submit');
    come('poll', 'poll');
    expect(taken).toStrictEqual([1]);
    give();
    await new Promise((resolve) => setImmediate(resolve));
    expect(passed).toStrictEqual(['poll']);
    give();
    await new Promise((resolve) => setImmediate(resolve));
    expect([passed, taken]).toStrictEqual([
      ['poll', 'first', 'second'],
      [1, 2],
    ]);
  });
});

describe('a rate that workers share', () => {
  /** Requests that pass, in ms since the beginning: each worker has so many that come again 300 ms after they have passed. */
  async function passedOf({
    workers,
    each,
    standsStill,
  }: {
    workers: number;
    each: number;
    standsStill?: true;
  }) {
    const clock = new VirtualClock();
    const begin = clock.now;
    const frozen = { until: -Infinity };
    const awake = (work: () => void): void => {
      if (clock.now >= frozen.until) work();
      else clock.in(frozen.until - clock.now, () => awake(work));
    };
    const scheduler = schedulerOf(
      { now: clock.now, in: (ms, work) => clock.in(ms, () => awake(work)) },
      () => false,
    );
    const now = { now: () => clock.now, schedule: scheduler.schedule };
    let nextAt = -Infinity;
    const takeTurns = (turns: number) =>
      new Promise<{ inMs: number; everyMs: number }>((resolve) =>
        clock.in(15, () => {
          const first = Math.max(nextAt, clock.now);
          nextAt = first + turns * 10;
          const inMs = first - clock.now;
          clock.in(15, () => resolve({ inMs, everyMs: 10 }));
        }),
      );
    const passed: number[] = [];
    for (let worker = 0; worker < workers; worker++) {
      const gate = new WorkerGate({ pause: () => undefined, takeTurns }, { scheduler: now, random: () => 1 });
      const ask = (key: string): void => {
        const complete = () => {
          passed.push(clock.now - begin);
          clock.in(300, () => ask(key));
        };
        gate.admit(visit('poll', key, 'one')).subscribe({ complete });
      };
      for (let n = 0; n < each; n++) clock.in(n * 7, () => ask(`${worker}-${n}`));
    }
    if (standsStill === true) clock.in(5_000, () => (frozen.until = clock.now + 20_000));
    await clock.until(new Promise<void>((resolve) => clock.in(30_000, resolve)), 60_000);
    return passed;
  }

  it.each([
    [1, 48],
    [4, 12],
  ])('is made use of by %i with %i requests each, and kept to', async (workers, each) => {
    const passed = await passedOf({ workers, each });
    expect(passed.length).toBeGreaterThan(0.95 * 30 * 100);
    for (const at of passed)
      expect(passed.filter((one) => one >= at && one < at + 1_000).length).toBeLessThanOrEqual(103);
  });

  it('is kept to by workers that have stood still with turns of theirs', async () => {
    const passed = await passedOf({ workers: 4, each: 200, standsStill: true });
    const after = passed.filter((at) => at >= 25_000);
    for (const at of after)
      expect(after.filter((one) => one >= at && one < at + 1_000).length).toBeLessThanOrEqual(125);
    expect(after.length).toBeGreaterThan(0.8 * 5 * 100);
  });
});
