import fc from 'fast-check';
import { config } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLanes, type LaneOptions } from '../../../src/operators/within-lane.js';

/** Lanes with more to do than there are slots; jobs end in the order in which they began. */
function worked(options: LaneOptions, names: string[], rounds: number): Record<string, number> {
  const lanes = createLanes(options);
  const running: (() => void)[] = [];
  const turns: Record<string, number> = {};
  const enter = (lane: string) => {
    const giveBack = lanes.take(lane, () => {
      turns[lane] = (turns[lane] ?? 0) + 1;
      running.push(() => {
        enter(lane);
        giveBack();
      });
    });
  };
  for (const lane of names) for (let index = 0; index < options.slots; index += 1) enter(lane);
  for (let round = 0; round < rounds; round += 1) running.shift()!();
  return turns;
}

describe('createLanes', () => {
  it('gives each lane its share by weight', () => {
    // a was alone when it took the first slots
    expect(worked({ slots: 8, weights: { a: 3 } }, ['a', 'b'], 400)).toStrictEqual({ a: 308, b: 100 });
    expect(worked({ slots: 1, weights: { a: 3 } }, ['a', 'b'], 399)).toStrictEqual({ a: 300, b: 100 });
    expect(worked({ slots: 3 }, ['a', 'b', 'c'], 297)).toStrictEqual({ a: 102, b: 99, c: 99 });
  });

  it('gives all slots to the only lane that wants them, and takes them back one by one', () => {
    const lanes = createLanes({ slots: 4 });
    const back = Array.from({ length: 6 }, () => lanes.take('busy', () => undefined));
    expect(lanes.state()).toStrictEqual({ busy: { held: 4, waiting: 2 } });
    for (let index = 0; index < 3; index += 1) lanes.take('late', () => undefined);
    back[0]!();
    back[1]!();
    expect(lanes.state()).toStrictEqual({ busy: { held: 2, waiting: 2 }, late: { held: 2, waiting: 1 } });
  });

  it('does not let a lane make up for the time in which it wanted nothing', () => {
    const lanes = createLanes({ slots: 1 });
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const enter = (lane: string) => {
      const giveBack = lanes.take(lane, () => order.push(lane));
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
          const lanes = createLanes({ slots, weights: { a: 2.5 } });
          const open: (() => void)[] = [];
          let begun = 0;
          for (const [lane, which] of steps) {
            open.push(lanes.take(lane, () => (begun += 1)));
            if (which < open.length) open.splice(which, 1)[0]!();
            const held = Object.values(lanes.state()).reduce((sum, { held: n }) => sum + n, 0);
            const waiting = Object.values(lanes.state()).reduce((sum, { waiting: n }) => sum + n, 0);
            expect(held).toBeLessThanOrEqual(slots);
            expect(held === slots || waiting === 0).toBe(true);
          }
          for (const giveBack of open) giveBack();
          expect(Object.values(lanes.state()).every(({ held, waiting }) => held === 0 && waiting === 0)).toBe(
            true,
          );
          expect(begun).toBeLessThanOrEqual(steps.length);
        },
      ),
    );
  });

  it('takes a slot back once, however often it is given', () => {
    const lanes = createLanes({ slots: 1 });
    const giveBack = lanes.take('a', () => undefined);
    giveBack();
    giveBack();
    lanes.take('a', () => undefined);
    lanes.take('a', () => undefined);
    expect(lanes.state()).toStrictEqual({ a: { held: 1, waiting: 1 } });
  });

  it('goes on when a caller throws, which is reported', async () => {
    const lanes = createLanes({ slots: 1 });
    const fault = new Error('not begun');
    const reported = new Promise((resolve) => (config.onUnhandledError = resolve));
    const giveBack = lanes.take('a', () => {
      throw fault;
    });
    let begun = false;
    lanes.take('b', () => (begun = true));
    expect(begun).toBe(false);
    giveBack();
    expect(begun).toBe(true);
    expect(await reported).toBe(fault);
    config.onUnhandledError = null;
  });

  it('refuses slots and weights that are none', () => {
    for (const slots of [0, -1, 1.5, Number.NaN]) expect(() => createLanes({ slots })).toThrow('slots');
    for (const a of [0, -1, Number.NaN, Infinity])
      expect(() => createLanes({ slots: 1, weights: { a } })).toThrow('weights.a');
  });
});
