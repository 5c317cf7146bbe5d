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

  it.each([200, 429])('keeps its rate over a long pause in which polls are answered with %i', (ofPolls) => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    const gate = adaptiveGate({ scheduler, random: () => 0.5 });
    const pauseMs = 600_000;
    const [pausesAt, goesOnAt] = [60_000, 60_000 + 2 * pauseMs];
    let tokens = perSecond;
    let filledAt = 0;
    const answerOf = (isSubmit: boolean) => {
      const now = scheduler.now();
      if (now >= pausesAt && now < goesOnAt)
        return { status: isSubmit ? 429 : ofPolls, retryAfterMs: Math.min(pauseMs, goesOnAt - now) };
      tokens = Math.min(perSecond, tokens + ((now - filledAt) / 1_000) * perSecond);
      filledAt = now;
      if (tokens < 1) return { status: 429, retryAfterMs: 1_000 };
      tokens -= 1;
      return { status: 200, retryAfterMs: undefined };
    };
    let submitted = 0;
    const ask = (isSubmit: boolean) => {
      const request = { ...visit(), kind: isSubmit ? ('submit' as const) : ('poll' as const) };
      const observe = () => {
        const answer = answerOf(isSubmit);
        gate.observe({ ...request, ...answer });
        if (isSubmit && answer.status === 200 && scheduler.now() > goesOnAt) submitted += 1;
        const againMs = answer.status === 429 ? answer.retryAfterMs : isSubmit ? 10 : 10_000;
        if (scheduler.now() < goesOnAt + 120_000) scheduler.schedule(() => ask(isSubmit), againMs);
      };
      gate.admit(request).subscribe({ complete: () => scheduler.schedule(observe, 50) });
    };
    for (let n = 0; n < 100; n += 1) {
      ask(true);
      ask(false);
    }
    scheduler.flush();
    expect(submitted / 120).toBeGreaterThan(perSecond / 2);
  });
});
