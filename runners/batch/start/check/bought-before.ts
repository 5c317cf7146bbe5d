import { basename, dirname, join } from 'node:path';
import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';
import { RowSet } from '../../journal/rows/column.js';
import { contentBits, type RowsInManifest } from '../../journal/rows/row-states.js';
import { runsOfManifest, runsOfRows, type NotedRun } from '../../lock/runs-of-manifest.js';
import { SameTally, type BoughtRows, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import { askedHash, hashesOf } from '../../manifest/request-hash.js';
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
 * Finds rows of the run whose purchases other rows of the manifest ask for now, as after row numbers have moved. By the id of the row
 * that asks: the id of the row that has bought it.
 *
 * @param changed rows that were bought with another request than they have now
 */
export async function boughtByOthers(
  journal: Bought,
  changed: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  if (changed.length === 0) return new Map();
  const bought = await boughtOf(journal, { toSend: () => changed }, () => true);
  const found = changed.flatMap((row) => {
    const by = buyerOf(row, bought);
    return by === undefined || by === row.id ? [] : [[row.id, by] as const];
  });
  return new Map(found);
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
  const hashes = new Map<string, string>();
  const elsewhere: string[] = [];
  for (const { folder, manifest } of runs) {
    // A run that cannot be read is skipped; its own start reports why.
    const journal = await peekJournal(disk, folder).catch(() => undefined);
    if (journal === undefined) continue;
    const found = await boughtOf(journal, sent, () => true, { asSent: dirname(manifest) !== beside });
    for (const [hash, id] of found) hashes.set(hash, id);
    if (found.size > 0) elsewhere.push(folder);
  }
  const rows = await tallied(sent, hashes);
  return rows && { ...rows, elsewhere };
}

/**
 * All rows to send, if a run of this manifest, or of rows of it, was noted in the folder of this start, which is to begin anew: the
 * folder was moved or removed since, or its disk is not mounted.
 *
 * @param sample the hashes of a `RowSample`
 */
export async function boughtAndLost(
  { disk, out, manifest: { path }, identity }: OtherRunsOf,
  { toSend, priceOf }: Sent,
  sample: readonly string[],
): Promise<BoughtRows | undefined> {
  const { baseUrl, lbBaseUrl, local } = identity;
  if (local) return undefined;
  const folder = await realPlace(disk, out);
  const of = { manifest: path, sample, baseUrl, lbBaseUrl };
  const same = (await runsOfManifest(disk, of)).filter(({ manifest }) => manifest === path);
  if (![...same, ...(await runsOfRows(disk, of))].some((run) => run.folder === folder)) return undefined;
  const tally = new SameTally();
  for await (const row of toSend()) if (!isRead(row)) tally.add(row, 0, priceOf(row));
  return { ...tally.result(), elsewhere: [folder], isLost: true };
}

/** The real path of a folder which may be missing, and folders above it, too. */
async function realPlace(disk: Disk, path: string): Promise<string> {
  const above = dirname(path);
  if (above === path || (await disk.stat(path)) !== undefined) return disk.realPath(path);
  return join(await realPlace(disk, above), basename(path));
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
 * The hashes by which the rows to send are known whose requests the journal has bought, also if they were written in another way,
 * each with the id of the row that bought it. First, 32 bits of the hashes are compared; whole hashes are read from the journal
 * only if some of these agree.
 *
 * @param asSent compare what is asked for, and not how the manifest writes it
 */
async function boughtOf(
  journal: Bought,
  { toSend }: { readonly toSend: () => AsyncIterable<Row> | readonly Row[] },
  isOf: (index: number, content: number) => boolean,
  { asSent } = { asSent: false },
): Promise<ReadonlyMap<string, string>> {
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  // Another row may have asked for the same, and have failed.
  const buyers = new RowSet();
  for (const [index, { status, content, asked, replaced }] of rows.contents()) {
    const isBought = content !== 0 && mayBePaid(status) && isOf(index, content) && isOf(index, asked);
    const found = [...(isBought ? [content, asked] : []), ...replaced.filter((one) => isOf(index, one))];
    if (found.length > 0) buyers.add(index);
    for (const one of found) bits.add(one);
  }
  bits.delete(0);
  const wanted = new Set<string>();
  if (bits.size > 0)
    for await (const row of toSend()) {
      const ways = isOnce(row) ? [...hashesOf(row)].filter((way) => bits.has(contentBits(way))) : [];
      for (const way of asSent && ways.length > 0 ? [askedHash(row)] : ways) wanted.add(way);
    }
  const bought = new Map<string, string>();
  if (wanted.size === 0) return bought;
  for await (const record of journal.records()) {
    if (record.k !== 'intent') continue;
    const { hash, asked = hash, takes } = record;
    const index = rows.indexOf(record.id);
    if (!buyers.has(index) || !isOf(index, contentBits(hash)) || !isOf(index, contentBits(asked))) continue;
    for (const way of asSent && takes === undefined ? [askedHash(record)] : [hash, asked])
      if (wanted.has(way) && !bought.has(way)) bought.set(way, record.id);
  }
  return bought;
}

async function tallied(
  { toSend, priceOf }: Sent,
  bought: ReadonlyMap<string, string>,
): Promise<SameRows | undefined> {
  if (bought.size === 0) return undefined;
  const tally = new SameTally();
  for await (const row of toSend())
    if (isOnce(row)) {
      const by = buyerOf(row, bought);
      if (by !== undefined) tally.add(row, 0, priceOf(row), by);
    }
  return tally.result();
}

/** The id of the row that has bought what this row asks for. */
function buyerOf(row: Row, bought: ReadonlyMap<string, string>): string | undefined {
  const way = [...hashesOf(row)].find((one) => bought.has(one));
  return way === undefined ? undefined : bought.get(way);
}

/** Whether the row costs something and is not repeated on purpose. */
function isOnce(row: Row): boolean {
  return !isRead(row) && (row.product?.repeat ?? 1) === 1;
}
