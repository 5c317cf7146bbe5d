import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';
import { contentBits } from '../../journal/rows/row-states.js';
import { runsOfManifest, type NotedRun } from '../../lock/runs-of-manifest.js';
import { SameTally, type BoughtRows, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
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
 */
export async function boughtElsewhere(
  { disk, runs, peekJournal }: Elsewhere & { readonly runs: readonly NotedRun[] },
  sent: Sent,
): Promise<BoughtRows | undefined> {
  const hashes = new Set<string>();
  const elsewhere: string[] = [];
  for (const { folder } of runs) {
    // A run that cannot be read says nothing; its own start says why.
    const journal = await peekJournal(disk, folder).catch(() => undefined);
    if (journal === undefined) continue;
    const found = await boughtOf(journal, sent, () => true);
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
 * The other runs that may have bought what a start sends. Of a run that has not begun, those of its manifest and of others beside
 * it; later, those of its manifest and those that its own failures were given to as a manifest. Runs against other hosts are left
 * out, as their service is another one; a rehearsal is never noted.
 */
export async function otherRuns(
  { disk, out, manifest: { path }, identity }: OtherRunsOf,
  isBegun: boolean,
): Promise<NotedRun[]> {
  const { baseUrl, lbBaseUrl, local } = identity;
  if (local) return [];
  const runsOf = (manifest: string) => runsOfManifest(disk, { manifest, baseUrl, lbBaseUrl });
  const beside = await runsOf(path);
  if (!isBegun) return [...beside];
  const own = await disk.realPath(out);
  const runs = [
    ...beside.filter(({ manifest }) => manifest === path),
    ...(await runsOf(`${out}/failures.jsonl`)),
  ];
  return runs.filter(({ folder }) => folder !== own);
}

type OtherRunsOf = Pick<ResolvedOptions, 'disk' | 'out' | 'identity'> & {
  readonly manifest: Pick<ResolvedOptions['manifest'], 'path'>;
};

/** Reads the journal of another run. */
export type PeekJournal = (disk: Disk, folder: string) => Promise<Bought | undefined>;

/**
 * Hashes of rows to be sent that the journal has bought. Contents are compared by 32 bits first; only where some agree are the
 * whole hashes read from the journal.
 */
async function boughtOf(
  journal: Bought,
  { toSend }: Sent,
  isOf: (index: number) => boolean,
): Promise<ReadonlySet<string>> {
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  for (const [index, { status, content }] of rows.contents())
    if (isOf(index) && content !== 0 && mayBePaid(status)) bits.add(content);
  const like = new Set<string>();
  if (bits.size > 0)
    for await (const row of toSend()) if (bits.has(contentBits(row.hash)) && isOnce(row)) like.add(row.hash);
  const bought = new Set<string>();
  if (like.size === 0) return bought;
  for await (const record of journal.records())
    if (record.k === 'intent' && like.has(record.hash) && isOf(rows.indexOf(record.id)))
      bought.add(record.hash);
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
