import { concat, NEVER, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../../src/contract/millrace-error.js';
import type { Gate, RequestKind } from '../../../../src/policy/gates/gate.js';
import { rateGate } from '../../../../src/policy/gates/built-in-gates.js';
import { visit } from '../../../support/virtual-time.js';

function play(
  ratePerSecond: number,
  setUp: (
    gate: Gate,
    ask: (atMs: number, name: string, kind?: RequestKind) => void,
    scheduler: TestScheduler,
  ) => void,
): { log: string[]; waits: string[] } {
  const scheduler = new TestScheduler(() => undefined);
  const log: string[] = [];
  const waits: string[] = [];
  scheduler.run(({ expectObservable }) => {
    expectObservable(concat(of(0), NEVER), '60s !');
    const gate = rateGate(ratePerSecond, { scheduler, random: () => 1 });
    const ask = (atMs: number, name: string, kind: RequestKind = 'submit'): void => {
      scheduler.schedule(() => {
        gate.admit(visit(kind, name)).subscribe({
          next: ({ why, forMs }) => waits.push(`${name} ${forMs} ${why}`),
          complete: () => log.push(`${scheduler.now()} ${name}`),
        });
      }, atMs);
    };
    setUp(gate, ask, scheduler);
  });
  return { log, waits };
}

describe('a rate gate', () => {
  it('spaces all requests evenly, of whatever kind', () => {
    const { log } = play(10, (_gate, ask) => {
      ask(0, 'a', 'submit');
      ask(0, 'b', 'poll');
      ask(0, 'c', 'cancel');
      ask(0, 'd', 'other');
    });
    expect(log).toEqual(['0 a', '100 b', '200 c', '300 d']);
  });

  it('lets polls before submissions that came earlier', () => {
    const { log } = play(10, (_gate, ask) => {
      for (const name of ['s1', 's2', 's3']) ask(0, name);
      ask(50, 'p1', 'poll');
      ask(60, 'p2', 'poll');
    });
    expect(log).toEqual(['0 s1', '100 p1', '200 p2', '300 s2', '400 s3']);
  });

  it('never lets more pass in any second than its rate', () => {
    const { log } = play(7, (_gate, ask) => {
      for (let i = 0; i < 100; i++) ask((i * 37) % 900, `r${i}`, i % 3 === 0 ? 'poll' : 'submit');
    });
    const times = log.map((line) => Number(line.split(' ')[0]));
    expect(times).toHaveLength(100);
    // Timers ring at whole milliseconds.
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 999).length).toBeLessThanOrEqual(7);
  });

  it('says how long the wait is, from a second on', () => {
    const { waits } = play(1, (_gate, ask) => {
      for (const name of ['a', 'b', 'c']) ask(0, name);
    });
    expect(waits).toEqual(['b 1000 gate', 'c 2000 gate']);
  });

  it('counts no submissions of another endpoint that pauses while its polls wait for the rate', () => {
    const reported: number[] = [];
    play(1, (gate, ask, scheduler) => {
      for (let n = 0; n < 10; n++)
        gate.observe({ ...visit('poll', 'x'), status: 429, retryAfterMs: 600_000 });
      for (const name of ['a', 'b', 'c', 'd', 'e']) ask(1_000, name);
      scheduler.schedule(() => gate.admit(visit('poll', 'z', 'other')).subscribe(), 30_000);
      for (const name of ['p', 'q']) ask(30_000, name, 'poll');
      const other = visit('submit', 'f', 'other');
      scheduler.schedule(() => {
        gate.admit(other).subscribe({ next: ({ forMs }) => reported.push(forMs) });
      }, 30_001);
    });
    expect(reported).toEqual([2_999]);
  });

  it('pauses when half of 20 answers are refusals as well, and goes on at its rate', () => {
    const { log } = play(10, (gate, ask, scheduler) => {
      ask(0, 'a');
      scheduler.schedule(() => {
        for (let n = 0; n < 10; n++) gate.observe({ ...visit(), status: 429, retryAfterMs: 1_000 });
      }, 10);
      ask(20, 'b');
      ask(30, 'c');
      scheduler.schedule(() => gate.observe({ ...visit(), status: 200 }), 1_020);
    });
    expect(log).toEqual(['0 a', '1010 b', '1110 c']);
  });

  it('keeps up a rate that is finer than its timers', () => {
    const { log } = play(500, (_gate, ask) => {
      for (let i = 0; i < 1_000; i++) ask(0, `r${i}`);
    });
    expect(Number(log.at(-1)?.split(' ')[0])).toBeLessThanOrEqual(2_000);
    expect(Number(log.at(-1)?.split(' ')[0])).toBeGreaterThanOrEqual(1_950);
  });

  it('lets pass at once whom it can, who takes a place by it, and nobody while others are in line', () => {
    const passed: (boolean | undefined)[] = [];
    const { log } = play(10, (gate, ask, scheduler) => {
      const tryAt = (atMs: number): unknown =>
        scheduler.schedule(() => passed.push(gate.tryPass?.(visit('submit', 't'))), atMs);
      tryAt(0);
      ask(10, 'a', 'poll');
      tryAt(20);
      tryAt(150);
      tryAt(200);
      ask(210, 'b');
    });
    expect({ passed, log }).toStrictEqual({ passed: [true, false, false, true], log: ['100 a', '300 b'] });
  });

  it('refuses a rate that is none', () => {
    expect(() => rateGate(0)).toThrow(InvalidOptionError);
  });
});
