import { VirtualTimeScheduler, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { adaptiveGate, rateGate } from '../../../../src/policy/gates/built-in-gates.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { visit } from '../../../support/virtual-time.js';

const perSecond = 50;
const requests = 4_000;

/** A service with a bucket of a second's tokens, asked by so many at a time; a refused request comes again. */
function play(create: (options: { scheduler: SchedulerLike; random: () => number }) => Gate, inFlight = 40) {
  const scheduler = new VirtualTimeScheduler(undefined, Infinity);
  const gate = create({ scheduler, random: () => 0.5 });
  let tokens = perSecond;
  let filledAt = 0;
  const count = { answered: 0, refused: 0 };
  const serve = () => {
    tokens = Math.min(perSecond, tokens + ((scheduler.now() - filledAt) / 1_000) * perSecond);
    filledAt = scheduler.now();
    if (tokens < 1) return 429;
    tokens -= 1;
    return 200;
  };
  const ask = () => {
    gate.admit(visit()).subscribe({
      complete: () =>
        scheduler.schedule(() => {
          const status = serve();
          count[status === 200 ? 'answered' : 'refused'] += 1;
          gate.observe({ ...visit(), status });
          if (count.answered < requests) ask();
        }, 5),
    });
  };
  for (let n = 0; n < inFlight; n += 1) ask();
  scheduler.now = () => scheduler.frame;
  scheduler.flush();
  const { answered, refused } = count;
  return { share: answered / (scheduler.frame / 1_000) / perSecond, refused: refused / (answered + refused) };
}

describe('an adaptive gate', () => {
  it('finds out the rate of a service: over 92 % of it, at most 2 % refused', () => {
    const { share, refused } = play(adaptiveGate);
    expect(share).toBeGreaterThan(0.92);
    expect(refused).toBeLessThan(0.02);
  });

  it('is beaten by a gate that was told the rate: over 90 %, under 2 % refused', () => {
    const { share, refused } = play((options) => rateGate(perSecond, options));
    expect(share).toBeGreaterThan(0.9);
    expect(refused).toBeLessThan(0.02);
  });

  it('lets all pass at once until one is refused', () => {
    const scheduler = new VirtualTimeScheduler();
    const gate = adaptiveGate({ scheduler });
    let passed = 0;
    for (let n = 0; n < 500; n += 1) gate.admit(visit()).subscribe({ complete: () => (passed += 1) });
    expect(passed).toBe(500);
  });
});
