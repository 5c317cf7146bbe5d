import { asyncScheduler, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/endpoints/create-client.js';
import { adaptiveGate, openGate, publishedGate, rateGate } from '../../../src/policy/gates/built-in-gates.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import { lateClock } from '../../../src/policy/client-clock.js';
import { pollLearned } from '../../../src/policy/polling/learned.js';
import { pollExponential, pollFixed, type PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import { of } from 'rxjs';
import { replied } from '../../support/virtual-time.js';

function virtualClock() {
  const scheduler = new VirtualTimeScheduler(undefined, 60_000);
  scheduler.now = () => scheduler.frame;
  return scheduler;
}

/** Buys three jobs that end at their second poll, all in virtual time: only a wait by another clock stops them. */
function endedAt(gate: Gate | undefined, poll: PollSchedule | undefined): number[] {
  const scheduler = virtualClock();
  const polls = new Map<string, number>();
  let ids = 0;
  const client = createClient({
    baseUrl: 'https://api.example.test',
    scheduler,
    ...(gate && { gate }),
    transport: ({ url }) => {
      const id = url.split('/status/')[1];
      if (id === undefined) return of(replied(200, { id: `j${++ids}`, status: 'IN_QUEUE' }));
      const seen = (polls.get(id) ?? 0) + 1;
      polls.set(id, seen);
      return of(replied(200, { id, status: seen < 2 ? 'IN_PROGRESS' : 'COMPLETED', output: {} }));
    },
  });
  const endpoint = client.queue('echo', { ...(poll && { poll }) });
  const ends: number[] = [];
  for (let row = 0; row < 3; row += 1)
    endpoint.run({ row }).subscribe({ complete: () => ends.push(scheduler.frame) });
  scheduler.flush();
  return ends;
}

describe('a client gives its clock to what was made without one', () => {
  it.each<[string, () => Gate]>([
    ['openGate', () => openGate()],
    ['rateGate', () => rateGate(1)],
    ['publishedGate', () => publishedGate({ submit: 1, poll: 1, cancel: 1, other: 1 })],
    ['adaptiveGate', () => adaptiveGate()],
  ])('%s', (name, make) => {
    const ends = endedAt(make(), pollFixed(100));
    expect(ends).toHaveLength(3);
    expect(ends.at(-1)! >= 2_000).toBe(name === 'rateGate' || name === 'publishedGate');
  });

  it.each<[string, () => PollSchedule | undefined]>([
    ['pollFixed', () => pollFixed(100)],
    ['pollExponential', () => pollExponential()],
    ['pollLearned', () => pollLearned()],
    ['the default', () => undefined],
  ])('%s', (_, make) => {
    expect(endedAt(undefined, make())).toHaveLength(3);
  });
});

describe('lateClock', () => {
  it('goes by the first clock that it is given, and by none where it was made with one', () => {
    const [first, second] = [virtualClock(), virtualClock()];
    first.frame = 7;
    const late = lateClock({});
    expect(Math.abs(late.scheduler.now() - asyncScheduler.now())).toBeLessThan(60_000);
    late.use({ scheduler: first, random: () => 0.25 });
    late.use({ scheduler: second, random: () => 0.5 });
    expect([late.scheduler.now(), late.random(), lateClock(late)]).toStrictEqual([7, 0.25, late]);
    const own = lateClock({ scheduler: second, random: () => 0.75 });
    own.use({ scheduler: first, random: () => 0.25 });
    expect([own.scheduler.now(), own.random()]).toStrictEqual([0, 0.75]);
  });
});
