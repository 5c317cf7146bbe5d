import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { JournalWriter } from '../../../../runners/batch/context/journal-writer.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { peekJournal } from '../../../../runners/batch/journal/recovered-journal.js';
import { RunPurchases } from '../../../../runners/batch/start/check/bought-elsewhere.js';
import {
  accepted,
  completed,
  failed,
  intent,
  refused,
  reopen,
  reply,
  start,
} from '../../../support/sample-records.js';

const hash = (digit: string) => digit.repeat(24);

/** The records of a row in one start, in the orders that a run writes. */
const lives = fc.constantFrom(
  (id: string) => [intent(id)],
  (id: string) => [intent(id), refused(id)],
  (id: string) => [intent(id), refused(id), intent(id, { attempt: 2 })],
  (id: string) => [intent(id), accepted(id), refused(id), reply(id)],
  (id: string) => [intent(id, { asked: hash('9') }), accepted(id), reply(id), completed(id)],
  (id: string) => [intent(id, { hash: hash('8') }), failed(id, 'rejected')],
  (id: string) => [intent(id), failed(id, 'unknown')],
  (id: string) => [intent(id, { takes: 'job', jobId: 'j' }), failed(id, 'expired')],
  (id: string) => [failed(id, 'invalid-row')],
  (id: string) => [
    intent(id),
    failed(id, 'unknown'),
    reopen(id, 'buy', 'retry'),
    intent(id, { attempt: 2, hash: hash('6') }),
    failed(id, 'rejected'),
  ],
);

/** A run whose starts write these rows; what is known of its purchases at the end of the last one, without and with its journal. */
async function purchases(
  starts: readonly (readonly ((id: string) => Parameters<JournalWriter['append']>[0][])[])[],
) {
  const out = mkdtempSync(join(tmpdir(), 'purchases-'));
  let reads = 0;
  const peek = (disk: typeof nodeDisk, folder: string) => {
    reads += 1;
    return peekJournal(disk, folder);
  };
  const options = { disk: nodeDisk, out, journal: undefined };
  let remembered: RunPurchases | undefined;
  for (const [at, rows] of starts.entries()) {
    const journal = await openJournal(nodeDisk, out);
    const own = new RunPurchases(options, journal, peek);
    const writer = new JournalWriter(journal, (record, status) => own.take(record, status));
    await lastValueFrom(writer.append(start()));
    for (const [row, life] of rows.entries())
      for (const record of life(`${at}-${row}`)) await lastValueFrom(writer.append(record));
    await journal.close();
    remembered = own;
  }
  const journal = await openJournal(nodeDisk, out);
  const read = new RunPurchases({ ...options, journal: () => Promise.reject(new Error()) }, journal, peek);
  await journal.close();
  const both = { remembered: await remembered?.hashes(), reads, read: await read.hashes() };
  rmSync(out, { recursive: true });
  return { ...both, isUnchanged: remembered?.isUnchanged };
}

const sorted = (
  hashes: { readonly written: readonly string[]; readonly sent: readonly string[] } | undefined,
) => ({
  written: [...new Set(hashes?.written)].sort(),
  sent: [...new Set(hashes?.sent)].sort(),
});

describe('what a run has bought', () => {
  it('is the same by what a start remembers of its rows as by its journal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(lives, { maxLength: 6 }), { minLength: 1, maxLength: 2 }),
        async (starts) => {
          const { remembered, read } = await purchases(starts);
          expect(sorted(remembered)).toEqual(sorted(read));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is remembered by the first start, and read from the journal by later ones', async () => {
    const bought = (id: string) => [intent(id), completed(id)];
    expect(await purchases([[bought, bought]])).toMatchObject({ reads: 0, isUnchanged: false });
    expect(await purchases([[bought], [bought]])).toMatchObject({ reads: 1, isUnchanged: false });
    expect(await purchases([[bought], []])).toMatchObject({ isUnchanged: true });
  });
});
