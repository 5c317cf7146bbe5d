import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { adaptiveConcurrency } from '../../../src/policy/adaptive-concurrency.js';

function controller() {
  const scheduler = new VirtualTimeScheduler();
  const slots = adaptiveConcurrency({ scheduler });
  const seen: number[] = [];
  slots.limit$.subscribe((rows) => seen.push(rows));
  const answer = (status: number, times = 1, kind: 'submit' | 'poll' = 'submit') => {
    for (let n = 0; n < times; n += 1) slots.observe({ kind, status });
  };
  return { scheduler, slots, seen, answer };
}

describe('adaptive concurrency', () => {
  it('begins with 8 and adds one for each submission that is taken, up to 100', () => {
    const { slots, seen, answer } = controller();
    answer(200, 200);
    expect(seen.slice(0, 3)).toEqual([8, 9, 10]);
    expect(slots.limit).toBe(100);
  });

  it('does not grow by polls and by what is wrong with a row', () => {
    const { slots, answer } = controller();
    answer(200, 50, 'poll');
    answer(400, 50);
    answer(0, 50);
    expect(slots.limit).toBe(8);
  });

  it('halves on a 429 and on a 5xx, once for those that left together', () => {
    const { scheduler, slots, answer } = controller();
    answer(200, 32);
    answer(429, 30);
    expect(slots.limit).toBe(20);
    scheduler.frame += 1_000;
    answer(503, 5, 'poll');
    expect(slots.limit).toBe(10);
    scheduler.frame += 1_000;
    answer(500);
    scheduler.frame += 1_000;
    answer(500);
    expect(slots.limit).toBe(4);
  });

  it('adds one a full round after the first refusal', () => {
    const { slots, answer } = controller();
    answer(200, 12);
    answer(429);
    expect(slots.limit).toBe(10);
    answer(200, 9);
    expect(slots.limit).toBe(10);
    answer(200);
    expect(slots.limit).toBe(11);
  });
});
