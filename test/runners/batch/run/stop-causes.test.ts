import { expect, it } from 'vitest';
import { stopCauses } from '../../../../runners/batch/stop/stop-causes.js';

it.each([
  [480_000, 392_500, 'the cost cap of $0.48: $0.480001 were'],
  [479_999, 1_000_000_000, 'the cost cap of $0.479999: $1,000.087501 were'],
])('tells what does not fit under a cap of %d to the last digit', (cap, spent, words) => {
  const { reason } = stopCauses.capReached({
    cap,
    spent,
    reserved: 87_500,
    unknown: 1,
    drift: 0,
    unpriced: 0,
  });
  expect(reason).toContain(`${words} spent, reserved or in doubt, and the next row did not fit.`);
});

it('ends what the disk says with one full stop', () => {
  for (const message of ['/out/a is not a file: move it away.', '/out/a is not a file: move it away'])
    expect(stopCauses.diskFailed(message).reason).toContain('move it away. What has been done is kept.');
});
