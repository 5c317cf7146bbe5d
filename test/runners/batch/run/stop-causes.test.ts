import { expect, it } from 'vitest';
import { stopCauses, whyHalted } from '../../../../runners/batch/stop/stop-causes.js';

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

it.each([
  stopCauses.keyRefused('no'),
  stopCauses.paymentRequired('no'),
  stopCauses.uploadRefused('no'),
  stopCauses.uploadUnreachable('no'),
  stopCauses.noEndpointLeft(['e'], 'no'),
  stopCauses.halted(1),
  stopCauses.undecided(20, 'no'),
  stopCauses.manifestChanged('no', true),
  stopCauses.manifestUnread('no', true),
  stopCauses.spentUnagreed({ spent: 2, agreed: 1 }),
])('sends nothing new and polls accepted jobs to their end, for they are paid: $reason', ({ leaves }) => {
  expect(leaves).toEqual(['open']);
});

it('takes a share of the rows that this start has sent: what an earlier one left in doubt is not among them', () => {
  const outcome = { id: 'a', status: 'failed', cost: null, source: 'none' } as const;
  const start = { ended: 25, failed: 15, invalid: 0, leftUnknown: 5 };
  const halts = (percent: number) => whyHalted({ halt: { percent } }, { rows: 0, start, outcome });
  expect(halts(50)).toMatchObject({
    exitCode: 5,
    reason: expect.stringContaining('10 failed rows') as string,
  });
  expect(halts(51)).toBeUndefined();
});
