import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createShares, type ShareOptions } from '../../../src/operators/create-shares.js';

/** Lanes with more to do than there are slots; jobs end in the order in which they began. */
function worked(options: ShareOptions, lanes: string[], rounds: number): Record<string, number> {
  const shares = createShares(options);
  const running: (() => void)[] = [];
  const turns: Record<string, number> = {};
  const enter = (lane: string) => {
    const giveBack = shares.take(lane, () => {
      turns[lane] = (turns[lane] ?? 0) + 1;
      running.push(() => {
        enter(lane);
        giveBack();
      });
    });
  };
  for (const lane of lanes) for (let index = 0; index < options.slots; index += 1) enter(lane);
  for (let round = 0; round < rounds; round += 1) running.shift()!();
  return turns;
}

describe('createShares', () => {
  it('gives each lane its share by weight', () => {
    // a was alone when it took the first slots
    expect(worked({ slots: 8, weights: { a: 3 } }, ['a', 'b'], 400)).toStrictEqual({ a: 308, b: 100 });
    expect(worked({ slots: 1, weights: { a: 3 } }, ['a', 'b'], 399)).toStrictEqual({ a: 300, b: 100 });
    expect(worked({ slots: 3 }, ['a', 'b', 'c'], 297)).toStrictEqual({ a: 102, b: 99, c: 99 });
  });

  it('gives all slots to the only lane that wants them, and takes them back one by one', () => {
    const shares = createShares({ slots: 4 });
    const back = Array.from({ length: 6 }, () => shares.take('busy', () => undefined));
    expect(shares.state()).toStrictEqual({ busy: { held: 4, waiting: 2 } });
    for (let index = 0; index < 3; index += 1) shares.take('late', () => undefined);
    back[0]!();
    back[1]!();
    expect(shares.state()).toStrictEqual({ busy: { held: 2, waiting: 2 }, late: { held: 2, waiting: 1 } });
  });

  it('does not let a lane make up for the time in which it wanted nothing', () => {
    const shares = createShares({ slots: 1 });
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const enter = (lane: string) => {
      const giveBack = shares.take(lane, () => order.push(lane));
      ends.push(giveBack);
    };
    for (let index = 0; index < 6; index += 1) enter('a');
    for (let index = 0; index < 4; index += 1) ends.shift()!();
    for (let index = 0; index < 3; index += 1) enter('b');
    while (ends.length > 0) ends.shift()!();
    expect(order.slice(5, 7).sort()).toStrictEqual(['a', 'b']);
  });

  it('never holds more than its slots, and starves nobody', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(9)), { maxLength: 60 }),
        (slots, steps) => {
          const shares = createShares({ slots, weights: { a: 2.5 } });
          const open: (() => void)[] = [];
          let begun = 0;
          for (const [lane, which] of steps) {
            open.push(shares.take(lane, () => (begun += 1)));
            if (which < open.length) open.splice(which, 1)[0]!();
            const held = Object.values(shares.state()).reduce((sum, { held: n }) => sum + n, 0);
            const waiting = Object.values(shares.state()).reduce((sum, { waiting: n }) => sum + n, 0);
            expect(held).toBeLessThanOrEqual(slots);
            expect(held === slots || waiting === 0).toBe(true);
          }
          for (const giveBack of open) giveBack();
          expect(
            Object.values(shares.state()).every(({ held, waiting }) => held === 0 && waiting === 0),
          ).toBe(true);
          expect(begun).toBeLessThanOrEqual(steps.length);
        },
      ),
    );
  });

  it('takes a slot back once, however often it is given', () => {
    const shares = createShares({ slots: 1 });
    const giveBack = shares.take('a', () => undefined);
    giveBack();
    giveBack();
    shares.take('a', () => undefined);
    shares.take('a', () => undefined);
    expect(shares.state()).toStrictEqual({ a: { held: 1, waiting: 1 } });
  });

  it('refuses slots and weights that are none', () => {
    for (const slots of [0, -1, 1.5, Number.NaN]) expect(() => createShares({ slots })).toThrow('slots');
    for (const a of [0, -1, Number.NaN, Infinity])
      expect(() => createShares({ slots: 1, weights: { a } })).toThrow('weights.a');
  });
});
