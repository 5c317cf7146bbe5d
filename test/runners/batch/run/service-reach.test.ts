import { expect, test } from 'vitest';
import { ServiceReach } from '../../../../runners/batch/stop/service-reach.js';

const failedAt = (at: number, sentAt = at - 10) => ({ sentAt, at });

test('a run of many rows gives up after two minutes and as many tries as one row has', () => {
  const reach = new ServiceReach(4);
  const hopeless = [1_000, 31_000, 61_000, 91_000, 120_000, 121_000, 122_000].map((at) =>
    reach.failed(failedAt(at)),
  );
  expect(hopeless).toEqual([false, false, false, false, false, true, true]);
});

test('tries that were under way together count as one', () => {
  const reach = new ServiceReach(1);
  for (let row = 0; row < 50; row += 1) reach.failed(failedAt(200_000 + row, 100_000));
  expect(reach.failed(failedAt(330_000, 100_000))).toBe(false);
  expect(reach.failed(failedAt(331_000, 330_500))).toBe(true);
});

test('an answer begins it anew', () => {
  const reach = new ServiceReach(0);
  reach.failed(failedAt(0));
  reach.answered();
  expect(reach.answers).toBe(1);
  expect(reach.failed(failedAt(200_000))).toBe(false);
  expect(reach.failed(failedAt(320_000))).toBe(true);
});

test('twenty requests in doubt stop a run once they came one after the other, and not all at once', () => {
  const reach = new ServiceReach(4);
  const together = Array.from({ length: 50 }, (_, row) => reach.undecided('e', failedAt(1_000 + row, 500)));
  expect(together.filter((posts) => posts !== undefined)).toEqual([]);
  const rounds = [2_000, 3_000, 4_000].map((at) => reach.undecided('e', failedAt(at)));
  expect(rounds).toEqual([undefined, undefined, 53]);
  reach.decided('e');
  expect(reach.undecided('e', failedAt(5_000))).toBeUndefined();
});
