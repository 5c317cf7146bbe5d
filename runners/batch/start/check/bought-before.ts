import { basename, dirname, join } from 'node:path';
import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';
import { contentBits, type RowsInManifest } from '../../journal/rows/row-states.js';
import { runsOfManifest, runsOfRows, type NotedRun } from '../../lock/runs-of-manifest.js';
import { SameTally, type BoughtRows, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import { requestHash } from '../../manifest/request-hash.js';
import { mayBePaid } from '../../row/row-status.js';

/** The rows that a start sends. */
interface Sent {
  /** Reads the manifest once more. */
  readonly toSend: () => AsyncIterable<Row>;
  readonly priceOf: (row: Row) => MicroDollars | null;
}

type Bought = Pick<Journal, 'recovered' | 'records'>;

/**
 * Finds rows to send whose request a row of this run has bought, or may have, under another id. That row is no longer in the
 * manifest, or has another request there: other axes, new names or new numbers gave the request another id. It may also
 * be a version that the row had before it was redone.
 *
 * @param inManifest the rows that a full pass over the manifest has found
 */
export async function boughtBefore(
  journal: Bought,
  inManifest: Pick<RowsInManifest, 'has'>,
  sent: Sent,
): Promise<BoughtRows | undefined> {
  return tallied(sent, await boughtOf(journal, sent, (index, content) => !inManifest.has(index, content)));
}

/**
 * Like `boughtBefore`, for purchases of other runs: a command with another output folder or another manifest name would buy
 * everything again.
 *
 * @param beside the folder of the manifest: relative paths in another folder lead to other pictures
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
    // A run that cannot be read is skipped; its own start reports why.
    const journal = await peekJournal(disk, folder).catch(() => undefined);
    if (journal === undefined) continue;
    const found = await boughtOf(journal, sent, () => true, { asSent: dirname(manifest) !== beside });
    for (const hash of found) hashes.add(hash);
    if (found.size > 0) elsewhere.push(folder);
  }
  const rows = await tallied(sent, hashes);
  return rows && { ...rows, elsewhere };
}

/**
 * All rows to send, if a run of this manifest was noted in the folder of this start, which is to begin anew: the folder was moved
 * or removed since, or its disk is not mounted.
 */
export async function boughtAndLost(
  { disk, out, manifest: { path }, identity }: OtherRunsOf,
  { toSend, priceOf }: Sent,
): Promise<BoughtRows | undefined> {
  const { baseUrl, lbBaseUrl, local } = identity;
  if (local) return undefined;
  const folder = join(await disk.realPath(dirname(out)), basename(out));
  const runs = await runsOfManifest(disk, { manifest: path, baseUrl, lbBaseUrl });
  if (!runs.some((run) => run.folder === folder && run.manifest === path)) return undefined;
  const tally = new SameTally();
  for await (const row of toSend()) if (!isRead(row)) tally.add(row, 0, priceOf(row));
  return { ...tally.result(), elsewhere: [folder], isLost: true };
}

/** Access to other runs. */
interface Elsewhere {
  readonly disk: Disk;
  readonly peekJournal: PeekJournal;
}

/**
 * The other runs that may have bought the requests of this start: runs of the same manifest, and runs anywhere that share rows
 * of the sample. For a new run also runs of manifests in the same folder; for one that has begun also runs that used its
 * failures.jsonl as a manifest. Runs against other hosts are left out, because those are other services; rehearsals are never
 * noted.
 *
 * @param sample the hashes of a `RowSample`
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
 * Hashes of rows to send whose requests the journal has bought, also if they were written in another way. First, 32 bits of the
 * hashes are compared; whole hashes are read from the journal only if some of these agree.
 *
 * @param asSent also compare requests as they are sent, in addition to how the manifest writes them
 */
async function boughtOf(
  journal: Bought,
  { toSend }: Sent,
  isOf: (index: number, content: number) => boolean,
  { asSent } = { asSent: false },
): Promise<ReadonlySet<string>> {
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  for (const [index, { status, content, replaced }] of rows.contents()) {
    if (content !== 0 && mayBePaid(status) && isOf(index, content)) bits.add(content);
    for (const one of replaced) if (isOf(index, one)) bits.add(one);
  }
  /** By the hash of a request that may have been bought: the row that asks for it, and, with `asSent`, its request as it is sent. */
  const like = new Map<string, { readonly hash: string; readonly sent: string }>();
  if (bits.size > 0)
    for await (const row of toSend()) {
      if (!isOnce(row)) continue;
      const { hash, alike = [] } = row;
      const ways = asSent ? [hash] : [hash, ...alike];
      for (const way of ways.filter((one) => bits.has(contentBits(one))))
        like.set(way, { hash, sent: asSent ? requestHash(row) : '' });
    }
  const bought = new Set<string>();
  if (like.size === 0) return bought;
  for await (const record of journal.records())
    if (record.k === 'intent' && isOf(rows.indexOf(record.id), contentBits(record.hash))) {
      const row = like.get(record.hash);
      if (row !== undefined && (!asSent || row.sent === requestHash(record))) bought.add(row.hash);
    }
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

/** Whether the row costs something and is not repeated on purpose. */
function isOnce(row: Row): boolean {
  return !isRead(row) && (row.product?.repeat ?? 1) === 1;
}
