import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { WorkerGate } from '../../../../runners/distributed/work/worker-gate.js';
import { visit } from '../../../support/virtual-time.js';

function setUp() {
  const scheduler = new TestScheduler(() => undefined);
  const kept = { pauses: [] as number[], answered: 0, turns: 0 };
  const keeper = {
    pause: (_why: unknown, askedMs: number) => kept.pauses.push(askedMs),
    answered: () => (kept.answered += 1),
    turn: () => Promise.resolve((kept.turns += 1)),
  };
  const gate = new WorkerGate(keeper, { scheduler, random: () => 1, isRated: false });
  /** Asks with a turn that was taken before, and says what the gate does. */
  const ask = (endpointId: string): 'passes' | number | undefined => {
    let answer: 'passes' | number | undefined;
    gate.grant('k');
    gate
      .admit(visit('submit', 'k', endpointId))
      .subscribe({ next: ({ forMs }) => (answer = forMs), complete: () => (answer = 'passes') });
    return answer;
  };
  const refuse = (endpointId: string, times: number, retryAfterMs: number) => {
    for (let n = 0; n < times; n++)
      gate.observe({ ...visit('submit', 'k', endpointId), status: 429, retryAfterMs });
  };
  return { gate, kept, ask, refuse };
}

describe("a worker's gate", () => {
  it('does not pause after a single refusal: the row goes back to the queue and waits there', () => {
    const { kept, ask, refuse } = setUp();
    expect(ask('one')).toBe('passes');
    refuse('one', 1, 60_000);
    expect(ask('one')).toBe('passes');
    expect(kept.pauses).toStrictEqual([]);
  });

  it('pauses an endpoint that refuses half of 20 answers, and no other one; that is nobody else’s pause', () => {
    const { gate, kept, ask, refuse } = setUp();
    ask('bad');
    ask('good');
    refuse('bad', 10, 5_000);
    expect(ask('bad')).toBe(5_000);
    expect(ask('good')).toBe('passes');
    expect(gate.pausedMs).toBe(0);
    expect(kept.pauses).toStrictEqual([]);
  });

  it('pauses the whole run where every endpoint that it asks refuses', () => {
    const { gate, kept, ask, refuse } = setUp();
    ask('one');
    ask('two');
    refuse('one', 10, 5_000);
    refuse('two', 10, 7_000);
    expect(gate.pausedMs).toBe(5_000);
    expect(kept.pauses).toStrictEqual([5_000]);
  });

  it('obeys the pause of the run, and reports good answers', () => {
    const { gate, kept, ask } = setUp();
    gate.hold(3_000);
    expect(gate.pausedMs).toBe(3_000);
    expect(ask('one')).toBeUndefined();
    gate.observe({ ...visit(), status: 200 });
    expect(kept.answered).toBe(1);
  });
});
