import { concat, NEVER, of, Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Gate, RequestKind } from '../../../../src/policy/gates/gate.js';
import { openGate } from '../../../../src/policy/gates/built-in-gates.js';
import { visit } from '../../../support/virtual-time.js';

interface GateSetUp {
  gate: Gate;
  scheduler: TestScheduler;
  /** Asks at this time; what happens is written into `log` as `<time> <name>…`. */
  ask: (atMs: number, name: string, kind?: RequestKind) => Subscription;
  observe: (atMs: number, status: number, retryAfterMs?: number) => void;
  /** Half of 20 answers are refused at this time. */
  refuse: (atMs: number, retryAfterMs: number) => void;
  log: string[];
}

/** Runs what a stage sets up, under virtual time, and gives the log. */
function play(setUp: (at: GateSetUp) => void, forMs = 60_000): string[] {
  const scheduler = new TestScheduler(() => undefined);
  const log: string[] = [];
  scheduler.run(({ expectObservable }) => {
    expectObservable(concat(of(0), NEVER), `${forMs}ms !`);
    const gate = openGate({ scheduler, random: () => 1 });
    setUp({
      gate,
      scheduler,
      log,
      ask(atMs, name, kind = 'submit') {
        const subscription = new Subscription();
        scheduler.schedule(() => {
          subscription.add(
            gate.admit(visit(kind, name)).subscribe({
              next: ({ why, forMs: waitMs }) =>
                log.push(`${scheduler.now()} ${name} waits ${waitMs} (${why})`),
              complete: () => log.push(`${scheduler.now()} ${name}`),
            }),
          );
        }, atMs);
        return subscription;
      },
      observe(atMs, status, retryAfterMs) {
        const asked = retryAfterMs !== undefined && { retryAfterMs };
        scheduler.schedule(() => gate.observe({ ...visit(), status, ...asked }), atMs);
      },
      refuse(atMs, retryAfterMs) {
        scheduler.schedule(() => {
          for (let n = 0; n < 10; n++) gate.observe({ ...visit(), status: 429, retryAfterMs });
        }, atMs);
      },
    });
  });
  return log;
}

describe('an open gate', () => {
  it('lets everybody pass at once', () => {
    const log = play(({ ask }) => {
      for (let i = 0; i < 5; i++) ask(0, `s${i}`);
    });
    expect(log).toEqual(['0 s0', '0 s1', '0 s2', '0 s3', '0 s4']);
  });

  it('holds all back when half of 20 answers are refusals, says so, and sends one probe at a time', () => {
    const log = play(({ ask, observe, refuse }) => {
      refuse(10, 1_000);
      ask(20, 'a');
      ask(30, 'b');
      ask(40, 'c');
      observe(1_200, 200);
    });
    expect(log).toEqual([
      '20 a waits 990 (rate-limited)',
      '30 b waits 980 (rate-limited)',
      '40 c waits 970 (rate-limited)',
      '1010 a',
      '1200 b',
      '1200 c',
    ]);
  });

  it('lets a poll, a cancel and a look before new submissions', () => {
    const log = play(({ ask, observe, refuse }) => {
      refuse(0, 100);
      ask(1, 'submit', 'submit');
      ask(2, 'poll', 'poll');
      ask(3, 'cancel', 'cancel');
      ask(4, 'other', 'other');
      observe(150, 200);
    });
    expect(log.filter((line) => !line.includes('waits'))).toEqual([
      '100 poll',
      '150 cancel',
      '150 other',
      '150 submit',
    ]);
  });

  it('lets a poll pass each half minute of a longer pause, and others while the answers are good [fault 4]', () => {
    const log = play(({ ask, observe, refuse }) => {
      refuse(0, 120_000);
      ask(1_000, 'submit');
      ask(2_000, 'p1', 'poll');
      ask(3_000, 'p2', 'poll');
      ask(4_000, 'p3', 'poll');
      observe(30_050, 429, 5_000);
      observe(60_100, 200);
      ask(70_000, 'p4', 'poll');
    }, 130_000);
    expect(log.filter((line) => !line.includes('waits'))).toEqual([
      '30000 p1',
      '60050 p2',
      '60100 p3',
      '70000 p4',
      '120000 submit',
    ]);
  });

  it('ends the shorter pause of one endpoint while another has a longer one', () => {
    const log = play(({ gate, scheduler, ask, refuse, log: lines }) => {
      refuse(0, 20_000);
      ask(1, 'a');
      const other = visit('submit', 'b', 'other');
      for (let n = 0; n < 10; n++) gate.observe({ ...other, status: 429, retryAfterMs: 2_000 });
      scheduler.schedule(() => {
        gate.admit(other).subscribe({ complete: () => lines.push(`${scheduler.now()} b`) });
      }, 2);
    });
    expect(log.filter((line) => !line.includes('waits'))).toEqual(['2000 b', '20000 a']);
  });

  it('tells those who wait when the pause becomes longer', () => {
    const log = play(({ ask, observe, refuse }) => {
      refuse(0, 1_000);
      ask(10, 'a');
      observe(500, 429, 3_000);
    });
    expect(log).toEqual(['10 a waits 990 (rate-limited)', '500 a waits 3000 (rate-limited)', '3500 a']);
  });

  it('tells a poll that waits its own, shorter wait when a long pause begins', () => {
    const log = play(({ ask, observe, refuse }) => {
      refuse(0, 1_000);
      ask(10, 's');
      ask(20, 'p', 'poll');
      observe(500, 429, 600_000);
    });
    expect(log.slice(2)).toEqual([
      '500 p waits 29500 (rate-limited)',
      '500 s waits 600000 (rate-limited)',
      '30000 p',
      '600500 s',
    ]);
  });

  it('sends the next probe when the first one stays away, and says nothing of a short wait', () => {
    const log = play(({ ask, refuse }) => {
      refuse(0, 100);
      ask(1, 'a');
      ask(2, 'b');
      ask(150, 'c');
      ask(4_900, 'd');
    });
    expect(log).toEqual([
      '1 a waits 99 (rate-limited)',
      '2 b waits 98 (rate-limited)',
      '100 a',
      '150 c waits 1950 (gate)',
      '2100 b',
      '4100 c',
      '4900 d waits 1200 (gate)',
      '6100 d',
    ]);
  });

  it('gives the place of an unsubscriber back', () => {
    const log = play(({ ask, refuse, scheduler }) => {
      refuse(0, 100);
      const gone = ask(1, 'a');
      ask(2, 'b');
      scheduler.schedule(() => gone.unsubscribe(), 50);
    });
    expect(log).toEqual(['1 a waits 99 (rate-limited)', '2 b waits 98 (rate-limited)', '100 b']);
  });

  it('lets no timer run when nobody waits', () => {
    play(({ ask, refuse, scheduler }) => {
      refuse(0, 600_000);
      const gone = ask(1, 'a');
      scheduler.schedule(() => {
        gone.unsubscribe();
        expect(scheduler.actions.filter((action) => action.delay > 60_000)).toEqual([]);
      }, 2);
    });
  });

  it('does not lose its place to a request that comes as soon as one is answered', () => {
    const log = play(({ gate, scheduler, refuse, log: lines, ask }) => {
      refuse(0, 100);
      ask(1, 'a');
      scheduler.schedule(() => {
        gate.admit(visit('poll', 'p')).subscribe({
          complete: () => {
            lines.push(`${scheduler.now()} p`);
            gate.observe({ ...visit('poll'), status: 200 });
            gate.admit(visit('poll', 'q')).subscribe({ complete: () => lines.push(`${scheduler.now()} q`) });
          },
        });
      }, 2);
    });
    expect(log).toEqual(['1 a waits 99 (rate-limited)', '100 p', '100 q', '100 a']);
  });

  it('stops a storm: after five failures one probe at a time, ever more rarely [fault 5]', () => {
    const passed: number[] = [];
    play(({ gate, scheduler }) => {
      const send = (): void => {
        gate.admit(visit()).subscribe({
          complete: () => {
            passed.push(scheduler.now());
            scheduler.schedule(() => {
              gate.observe({ ...visit(), status: 500 });
              if (scheduler.now() < 60_000) send();
            }, 10);
          },
        });
      };
      for (let i = 0; i < 4; i++) send();
    }, 60_000);
    expect(passed.slice(0, 5)).toEqual([0, 0, 0, 0, 10]);
    expect(passed.length).toBeLessThan(20);
  });

  it.each([429, 500, 0])('holds no other endpoint or host back while one answers %s', (status) => {
    const scheduler = new TestScheduler(() => undefined);
    const gate = openGate({ scheduler, random: () => 1 });
    const bad = visit('submit', 'k', 'bad');
    for (let n = 0; n < 20; n++) gate.observe({ ...bad, status });
    expect(gate.tryPass?.(bad)).toBe(false);
    for (const good of [visit('submit', 'k', 'good'), { ...bad, host: 'other.test' }]) {
      expect(gate.tryPass?.(good)).toBe(true);
      let passed = false;
      gate.admit(good).subscribe({ complete: () => (passed = true) });
      expect(passed).toBe(true);
    }
    expect(gate.tryPass?.(bad)).toBe(false);
  });

  it('works in parts as well: its methods need no `this`', () => {
    const { admit, tryPass, observe } = { ...openGate() };
    observe({ ...visit(), status: 200 });
    expect(tryPass?.(visit())).toBe(true);
    let passed = false;
    admit(visit()).subscribe({ complete: () => (passed = true) });
    expect(passed).toBe(true);
  });
});
