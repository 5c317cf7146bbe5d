import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { WorkerGate } from '../../../../runners/distributed/worker/worker-gate.js';
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

  it('obeys the pause of the run', () => {
    const { gate, ask } = setUp();
    gate.hold(3_000);
    expect(ask('one')).toBeUndefined();
    expect(gate.tryPass(visit('submit', 'k', 'one'))).toBe(false);
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
