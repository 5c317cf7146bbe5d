import { dirname } from 'node:path';
import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';
import { contentBits } from '../../journal/rows/row-states.js';
import { runsOfManifest, runsOfRows, type NotedRun } from '../../lock/runs-of-manifest.js';
import { SameTally, type BoughtRows, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import { requestHash } from '../../manifest/request-hash.js';
import type { KnownIds } from '../../tasks/known-ids.js';
import { mayBePaid } from '../../row/row-status.js';

/** The rows that a start sends. */
interface Sent {
  /** Reads the manifest once more. */
  readonly toSend: () => AsyncIterable<Row>;
  readonly priceOf: (row: Row) => MicroDollars | null;
}

type Bought = Pick<Journal, 'recovered' | 'records'>;

/**
 * The rows to be sent that ask for exactly what an earlier row of the run asked for that was or may have been paid and is in the
 * manifest no more: the row has another id, by other axes or another name.
 *
 * @param ids those of a reading of the manifest
 */
export async function boughtBefore(
  journal: Bought,
  ids: Pick<KnownIds, 'isSeen'>,
  sent: Sent,
): Promise<BoughtRows | undefined> {
  return tallied(sent, await boughtOf(journal, sent, (index) => !ids.isSeen(index)));
}

/**
 * The same by what other runs have bought: with another folder, or under another name of the manifest, one command would buy
 * everything again.
 *
 * @param beside the folder of the manifest: in another one, a path to a picture leads to another picture
 */
export async function boughtElsewhere(
  {
    disk,
    runs,
    beside,
    peekJournal,
  }: Elsewhere & { readonly runs: readonly NotedRun[]; readonly beside: string },
  sent: Sent,
): Promise<BoughtRows | undefined> {
  const hashes = new Set<string>();
  const elsewhere: string[] = [];
  for (const { folder, manifest } of runs) {
    // A run that cannot be read says nothing; its own start says why.
    const journal = await peekJournal(disk, folder).catch(() => undefined);
    if (journal === undefined) continue;
    const found = await boughtOf(journal, sent, () => true, { asSent: dirname(manifest) !== beside });
    for (const hash of found) hashes.add(hash);
    if (found.size > 0) elsewhere.push(folder);
  }
  const rows = await tallied(sent, hashes);
  return rows && { ...rows, elsewhere };
}

/** What reads other runs. */
interface Elsewhere {
  readonly disk: Disk;
  readonly peekJournal: PeekJournal;
}

/**
 * The other runs that may have bought what a start sends: of its manifest, and of rows of the sample, wherever they stood; of a run
 * that has not begun, also of manifests beside it; later, also those that its own failures were given to as a manifest. Runs
 * against other hosts are left out, as their service is another one; a rehearsal is never noted.
 *
 * @param sample as `RowSample` has it
 */
export async function otherRuns(
  { disk, out, manifest: { path }, identity }: OtherRunsOf,
  isBegun: boolean,
  sample: readonly string[],
): Promise<NotedRun[]> {
  const { baseUrl, lbBaseUrl, local } = identity;
  if (local) return [];
  const of = { manifest: path, sample, baseUrl, lbBaseUrl };
  const [beside, byRows] = [await runsOfManifest(disk, of), await runsOfRows(disk, of)];
  const own = isBegun ? await disk.realPath(out) : undefined;
  const runs = isBegun
    ? [
        ...beside.filter(({ manifest }) => manifest === path),
        ...byRows,
        ...(await runsOfManifest(disk, { ...of, manifest: `${out}/failures.jsonl` })),
      ]
    : [...beside, ...byRows];
  const folders = new Set([own]);
  return runs.filter(({ folder }) => !folders.has(folder) && folders.add(folder));
}

type OtherRunsOf = Pick<ResolvedOptions, 'disk' | 'out' | 'identity'> & {
  readonly manifest: Pick<ResolvedOptions['manifest'], 'path'>;
};

/** Reads the journal of another run. */
export type PeekJournal = (disk: Disk, folder: string) => Promise<Bought | undefined>;

/**
 * Hashes of rows to be sent that the journal has bought. Contents are compared by 32 bits first; only where some agree are the
 * whole hashes read from the journal.
 *
 * @param asSent the requests are to be the same as they were sent, and not only as they are written
 */
async function boughtOf(
  journal: Bought,
  { toSend }: Sent,
  isOf: (index: number) => boolean,
  { asSent } = { asSent: false },
): Promise<ReadonlySet<string>> {
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  for (const [index, { status, content }] of rows.contents())
    if (isOf(index) && content !== 0 && mayBePaid(status)) bits.add(content);
  /** By the hash of a row that may have been bought: that of its request as it is sent. */
  const like = new Map<string, string>();
  if (bits.size > 0)
    for await (const row of toSend())
      if (bits.has(contentBits(row.hash)) && isOnce(row)) like.set(row.hash, asSent ? requestHash(row) : '');
  const bought = new Set<string>();
  if (like.size === 0) return bought;
  for await (const record of journal.records())
    if (record.k === 'intent' && like.has(record.hash) && isOf(rows.indexOf(record.id)))
      if (!asSent || like.get(record.hash) === requestHash(record)) bought.add(record.hash);
  return bought;
}

async function tallied(
  { toSend, priceOf }: Sent,
  bought: ReadonlySet<string>,
): Promise<SameRows | undefined> {
  if (bought.size === 0) return undefined;
  const tally = new SameTally();
  for await (const row of toSend()) if (bought.has(row.hash) && isOnce(row)) tally.add(row, 0, priceOf(row));
  return tally.result();
}

/** It costs something, and is not asked for several times on purpose. */
function isOnce(row: Row): boolean {
  return !isRead(row) && (row.product?.repeat ?? 1) === 1;
}
