import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { sumMoney } from '../../../../runners/report/survey/sum-money.js';
import { reportFolder } from '../../../support/report-folder.js';

const head = 'id,row,attempt,jobId,endpoint,resolution,cost,source,settledAt';
const at = '2026-11-20T10:00:00.000Z';
const later = '2026-11-20T11:00:00.000Z';

async function sum(...lines: string[]) {
  return sumMoney(nodeDisk, await reportFolder({ 'costs.csv': [head, ...lines].join('\r\n') }));
}

describe('sumMoney', () => {
  it('counts once what was unknown at a deadline and was reported or came to nothing since', async () => {
    const { total, byResolution, spending } = await sum(
      `a,1,1,job-a,e,2k,0.13,unknown,${at}`,
      `b,2,1,job-b,e,1k,0.0875,unknown,${at}`,
      `a,1,1,job-a,e,2k,0.12,reported,${later}`,
      `b,2,1,job-b,e,1k,0,estimated,${later}`,
    );
    expect(total).toEqual({ purchases: 1, reported: 120_000, estimated: 0, unknown: 0 });
    expect([...byResolution.keys()]).toEqual(['2k']);
    expect([...spending]).toEqual([{ at: Date.parse(later), amount: 120_000, source: 'reported' }]);
  });

  it('keeps what may have been bought beside a second purchase of the row', async () => {
    const { total } = await sum(
      `a,1,1,,e,1k,0.0875,unknown,${at}`,
      `a,1,2,job-a,e,1k,0.0875,reported,${later}`,
    );
    expect(total).toEqual({ purchases: 1, reported: 87_500, estimated: 0, unknown: 87_500 });
  });
});
