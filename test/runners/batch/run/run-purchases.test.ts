import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { JournalWriter } from '../../../../runners/batch/context/journal-writer.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { peekJournal } from '../../../../runners/batch/journal/recovered-journal.js';
import { usualFolders } from '../../../../runners/batch/lock/owner.js';
import {
  BoughtNote,
  boughtThere,
  noteBought,
  type BoughtHashes,
} from '../../../../runners/batch/lock/bought-note.js';
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

const from = { manifest: '/m.jsonl', at: '2026-11-30T00:00:00Z', baseUrl: '', lbBaseUrl: '' };
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

type Life = (id: string) => Parameters<JournalWriter['append']>[0][];

/** A run whose starts write these rows, and note what they buy; what is noted then, and what the journal says. */
async function purchases(starts: readonly (readonly Life[])[]) {
  const out = mkdtempSync(join(tmpdir(), 'purchases-'));
  let reads = 0;
  const peek = (disk: typeof nodeDisk, folder: string) => {
    reads += 1;
    return peekJournal(disk, folder);
  };
  vi.stubEnv('XDG_STATE_HOME', out);
  const [state = ''] = usualFolders();
  const options = { disk: nodeDisk, out, journal: undefined };
  const run = { ...from, folder: out, run: 'one', bytes: 1 };
  const noteEnd = (bought: readonly BoughtHashes[] | undefined) => noteBought(nodeDisk, state, run, bought);
  for (const [at, rows] of starts.entries()) {
    const journal = await openJournal(nodeDisk, out);
    await noteEnd(undefined);
    const note = new BoughtNote(nodeDisk, state, out, true);
    const own = new RunPurchases(options, journal, peek, (changes) => note.add(changes));
    const writer = new JournalWriter(journal, (record, status) => own.take(record, status));
    await lastValueFrom(writer.append(start()));
    for (const [row, life] of rows.entries())
      for (const record of life(`${at}-${row}`)) await lastValueFrom(writer.append(record));
    await journal.close();
    if (!(own.areAllKnown && (await note.close(1)))) await noteEnd(await own.hashes());
  }
  const journal = await openJournal(nodeDisk, out);
  const read = await new RunPurchases(options, journal, peekJournal).hashes();
  await journal.close();
  const noted = await boughtThere(nodeDisk, out, from);
  rmSync(out, { recursive: true });
  const areNoted = (['written', 'sent'] as const).every((list) =>
    read?.flatMap((row) => row[list]).every((one) => noted?.has(one, list)),
  );
  const isSame = areNoted && noted?.size === new Set(read?.flatMap(({ written }) => written)).size;
  return { reads, isSame, isWhole: noted?.isWhole };
}

describe('what a run has bought', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('is noted while it goes on as its journal says it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(lives, { maxLength: 6 }), { minLength: 1, maxLength: 2 }),
        async (starts) => {
          expect(await purchases(starts)).toMatchObject({ isSame: true, isWhole: true });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is noted however much it is', async () => {
    const out = mkdtempSync(join(tmpdir(), 'purchases-'));
    vi.stubEnv('XDG_STATE_HOME', out);
    const [state = ''] = usualFolders();
    const run = { ...from, folder: out, run: 'one', bytes: 0 };
    await noteBought(nodeDisk, state, run, undefined);
    const note = new BoughtNote(nodeDisk, state, out, true);
    const hashOf = (at: number) => createHash('sha256').update(String(at)).digest('hex').slice(0, 24);
    const hashes = Array.from({ length: 300_000 }, (_, at) => hashOf(at));
    note.add({ bought: hashes.map((one) => ({ written: [one], sent: [one] })), refused: [] });
    expect(await note.close(1)).toBe(true);
    const noted = await boughtThere(nodeDisk, out, from);
    expect([noted?.isWhole, noted?.size, noted?.has(hashes[299_999]!, 'sent')]).toEqual([
      true,
      300_000,
      true,
    ]);
    rmSync(out, { recursive: true });
  });

  it('is read from the journal only if a purchase of an earlier start has changed', async () => {
    const bought = (id: string) => [intent(id), completed(id)];
    const again = (id: string) => [intent(id), failed(id, 'unknown'), reopen(id, 'buy', 'retry')];
    expect(await purchases([[bought, bought]])).toMatchObject({ reads: 0 });
    expect(await purchases([[bought], [bought]])).toMatchObject({ reads: 0 });
    expect(await purchases([[bought], [bought, again]])).toMatchObject({ reads: 1 });
  });
});
