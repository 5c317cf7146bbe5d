import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { adaptiveConcurrency } from '../../../../src/policy/gates/adaptive-concurrency.js';
import { seeded } from '../../../support/seeded.js';

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

  it('halves on 429s and on 5xxs, once for those that left together', () => {
    const { scheduler, slots, answer } = controller();
    answer(200, 32);
    answer(429, 30);
    expect(slots.limit).toBe(20);
    scheduler.frame += 1_000;
    answer(200, 20, 'poll');
    answer(503, 3, 'poll');
    expect(slots.limit).toBe(10);
  });

  it('goes below what it tried when the rows that it took back for noise meet a limit', () => {
    const { scheduler, slots, answer } = controller();
    const mixed = (rounds: number) => {
      for (let n = 0; n < rounds; n++) {
        answer(200, 3, 'poll');
        answer(429, 1, 'poll');
      }
      scheduler.frame += 1_000;
    };
    answer(200, 32);
    mixed(10);
    mixed(10);
    const inTrial = slots.limit;
    mixed(20);
    expect(slots.limit).toBe(40);
    answer(429, 20, 'poll');
    expect(slots.limit).toBeLessThanOrEqual(inTrial);
  });

  it('does not halve on a single refusal', () => {
    const { slots, answer } = controller();
    for (let n = 0; n < 20; n++) {
      answer(200, 99, 'poll');
      answer(429);
    }
    expect(slots.limit).toBe(8);
  });

  it('stays at 4 at least', () => {
    const { scheduler, slots, answer } = controller();
    for (let n = 0; n < 20; n++) {
      answer(500, 100);
      scheduler.frame += 1_000;
    }
    expect(slots.limit).toBeGreaterThanOrEqual(4);
  });

  it('adds one a full round after the first refusals', () => {
    const { scheduler, slots, answer } = controller();
    answer(200, 22);
    answer(429, 3);
    expect(slots.limit).toBe(15);
    scheduler.frame += 1_000;
    answer(200, 14);
    expect(slots.limit).toBe(15);
    answer(200);
    expect(slots.limit).toBe(16);
  });

  it.each([0.02, 0.1, 0.3])('does not collapse where a share of %s is refused at random', (share) => {
    const { scheduler, slots, answer } = controller();
    const random = seeded(5);
    const limits: number[] = [];
    for (let n = 0; n < 20_000; n++) {
      scheduler.frame += 10;
      answer(random() < share ? 429 : 200);
      limits.push(slots.limit);
    }
    const average = limits.reduce((sum, rows) => sum + rows, 0) / limits.length;
    expect(average).toBeGreaterThan(70);
  });

  it('finds out how many rows a service takes at once', () => {
    const { scheduler, slots, answer } = controller();
    const limits: number[] = [];
    for (let n = 0; n < 3_000; n++) {
      scheduler.frame += 100;
      const refused = Math.max(slots.limit - 20, 0);
      answer(200, slots.limit - refused);
      answer(429, refused);
      if (n >= 1_000) limits.push(slots.limit);
    }
    const average = limits.reduce((sum, rows) => sum + rows, 0) / limits.length;
    expect(average).toBeGreaterThan(12);
    expect(average).toBeLessThan(24);
  });
});
