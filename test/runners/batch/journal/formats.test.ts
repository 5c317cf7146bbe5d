import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { recordsOf } from '../../../support/sample-records.js';

const folder = '/out/run';

/** A file as an older version wrote it. It is never written anew: a later version must read it as it stands. */
async function opened(name: string): ReturnType<typeof openJournal> {
  const disk = new ForgetfulDisk();
  disk.plant(`${folder}/journal.jsonl`, await readFile(new URL(`fixtures/${name}`, import.meta.url)));
  return openJournal(disk, folder);
}

describe('a journal of format 1', () => {
  it('is read with every record', async () => {
    const kinds = (await recordsOf(await opened('v1.jsonl'))).map(({ k }) => k);
    expect(kinds.join(' ')).toBe(
      'start intent refused intent accepted intent reply outcome intent outcome accepted reopen intent outcome stop ' +
        'start reply intent repaired',
    );
  });

  it('means what it meant', async () => {
    const { recovered } = await opened('v1.jsonl');
    expect(recovered).toMatchObject({
      identity: { baseUrl: 'https://api.test', lbBaseUrl: '', local: false },
      starts: 2,
      firstStartAt: 1_000,
      lastStartAt: 10_000,
      records: 19,
      lastRow: 5,
      heldUpToRow: 1_005,
    });
    expect(
      ['a', 'b', 'ç"', 'd', 'e'].map((id) => [id, recovered.rows.get(id)?.status, recovered.attemptsOf(id)]),
    ).toEqual([
      ['a', 'completed', 2],
      ['b', 'sent', 2],
      ['ç"', 'replied', 1],
      ['d', 'invalid-row', 0],
      ['e', 'accepted', 1],
    ]);
    expect(recovered.rows.get('a')?.sameContent('0123456789abcdef01234567')).toBe(true);
    expect([...recovered.pending.keys()]).toEqual(['e', 'ç"', 'b']);
    expect(recovered.pending.get('ç"')).toMatchObject({
      jobId: 'job-ç"',
      reply: { output: { image_url: 'https://results.test/a.png' } },
    });
    expect(recovered.totals).toMatchObject({
      spent: { reported: 175_000, estimated: 0 },
      unknown: 87_500,
      possiblyDouble: 87_500,
      reserved: 87_500,
      purchases: 2,
      statusCalls: 4,
      unpriced: 0,
    });
    expect(recovered.highestReported).toEqual([
      { kind: 'edit', endpoint: 'image-edit', resolution: '1k', cost: 87_500 },
    ]);
    expect(['d', 'new'].map((id) => recovered.mustHold(id, 6))).toEqual([true, true]);
  });
});
