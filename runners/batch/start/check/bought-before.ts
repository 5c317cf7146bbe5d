import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';
import type { IntentRecord } from '../../journal/record.js';
import { RowSet } from '../../journal/rows/column.js';
import { contentBits, type RowsInManifest, type RowState } from '../../journal/rows/row-states.js';
import { SameTally, type BoughtRows, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import { askedHash, hashesOf } from '../../manifest/request-hash.js';
import { SelectRows } from '../../manifest/rows/row-selection.js';
import { decideRow, type ManifestRules } from '../../row/decide-row.js';
import { type HashesByBytes, uploadedHashes, UploadedRequests } from '../../uploads/create-picture-host.js';
import { UploadNotes } from '../../uploads/upload-notes.js';
import { mayBePaid } from '../../row/row-status.js';
import type { JournalRows } from './survey.js';

/** The rows that a start sends. */
export interface Sent {
  /** Reads the manifest once more. */
  readonly toSend: () => AsyncIterable<Row>;
  readonly priceOf: (row: Row) => MicroDollars | null;
  /** Whether `Ahead.same` has the row. */
  readonly isSame: (row: Row) => boolean;
}

/** The hashes of requests that were bought, each with the ids of the rows that bought it. */
export type Buyers = ReadonlyMap<string, readonly string[]>;

/** The purchases of a run. */
export type Bought = Pick<Journal, 'recovered' | 'records'>;

/**
 * Finds rows to send whose request a row of this run has bought, or may have, under another id. That row is no longer in the
 * manifest, or has another request there: other axes, new names or new numbers gave the request another id. It may also
 * be a version that the row had before it was redone. Pictures that are uploaded are compared by their bytes.
 *
 * @param inManifest the rows that a full pass over the manifest has found
 * @returns these rows, and the others that are sent
 */
export async function boughtBefore(
  { disk, out, pictureHost }: Pick<ResolvedOptions, 'disk' | 'out' | 'pictureHost'>,
  journal: Bought,
  {
    inManifest,
    byBytes,
  }: { readonly inManifest: Pick<RowsInManifest, 'has'>; readonly byBytes: HashesByBytes },
  sent: Sent,
): Promise<{ readonly own: BoughtRows | undefined; readonly rest: Sent }> {
  const isOf = (index: number, content: number) => !inManifest.has(index, content);
  const uploaded = pictureHost && (await uploadedBy(disk, out, journal));
  const bought = await boughtOf(journal, sent, isOf, { byBytes, uploaded });
  const toSend = bought.size === 0 ? sent.toSend : () => rowsWithout(sent.toSend(), bought, byBytes);
  return { own: await tallied(sent, bought, undefined, byBytes), rest: { ...sent, toSend } };
}

async function* rowsWithout(
  rows: AsyncIterable<Row>,
  bought: Buyers,
  byBytes: HashesByBytes,
): AsyncGenerator<Row> {
  for await (const row of rows) if (buyerOf(row, bought, byBytes) === undefined) yield row;
}

/** The purchases of the run in the folder that have uploaded pictures. */
export async function uploadedBy(disk: Disk, folder: string, journal: Bought): Promise<UploadedRequests> {
  const uploaded = new UploadedRequests((await UploadNotes.open(disk, `${folder}/uploads.jsonl`)).sizes());
  for await (const intent of purchasesIn(journal)) uploaded.add(intent);
  return uploaded;
}

/** The intents of the rows that were bought, or may have been. */
export async function* purchasesIn(journal: Bought): AsyncGenerator<IntentRecord, void, void> {
  const buyers = buyersIn(journal, () => true);
  for await (const record of journal.records())
    if (record.k === 'intent' && buyers.has(journal.recovered.rows.indexOf(record.id))) yield record;
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
 * The hashes by which the rows to send are known whose requests the journal has bought, also if they were written in another way,
 * each with the ids of the rows that bought it. First, 32 bits of the hashes are compared; whole hashes are read from the journal
 * only if some of these agree.
 *
 * @param asSent compare what is asked for, and not how the manifest writes it
 * @param byBytes compare uploaded pictures by their bytes. @defaultValue by their paths
 * @param uploaded the requests of the journal with such pictures. @defaultValue none
 */
export async function boughtOf(
  journal: Bought,
  { toSend }: { readonly toSend: () => AsyncIterable<Row> | readonly Row[] },
  isOf: (index: number, content: number) => boolean,
  { asSent = false, byBytes, uploaded }: ComparedBy = {},
): Promise<Buyers> {
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  const buyers = buyersIn(journal, isOf, bits);
  bits.delete(0);
  /** By each hash: how many purchases the rows to send are compared with. */
  const wanted = new Map<string, number>();
  const areUploaded = byBytes !== undefined && uploaded !== undefined;
  if (bits.size > 0)
    for await (const row of toSend()) {
      const ways = isRead(row) ? [] : [...hashesOf(row)].filter((way) => bits.has(contentBits(way)));
      const own = areUploaded && !isRead(row) ? await byBytes.hashOf(row, uploaded) : undefined;
      const asWritten = asSent && ways.length > 0 ? [askedHash(row)] : ways;
      for (const way of own === undefined ? asWritten : [...asWritten, own])
        wanted.set(way, Math.max(wanted.get(way) ?? 0, repeatOf(row)));
    }
  const bought = new Map<string, string[]>();
  if (wanted.size === 0) return bought;
  for await (const record of journal.records()) {
    if (record.k !== 'intent') continue;
    const index = rows.indexOf(record.id);
    if (!buyers.has(index) || !hashesSent(record).every((hash) => isOf(index, contentBits(hash)))) continue;
    for (const way of hashesSent(record, { asSent, isByBytes: areUploaded })) {
      const ids = bought.get(way) ?? [];
      if (ids.length >= (wanted.get(way) ?? 0) || ids.includes(record.id)) continue;
      bought.set(way, [...ids, record.id]);
    }
  }
  return bought;
}

/**
 * The rows that were bought, or may have been, with a request that counts.
 *
 * @param bits gets the first 32 bits of the hashes of these requests
 */
function buyersIn(
  { recovered: { rows } }: Bought,
  isOf: (index: number, content: number) => boolean,
  bits = new Set<number>(),
): RowSet {
  // Another row may have asked for the same, and have failed.
  const buyers = new RowSet();
  for (const [index, { status, content, asked, earlier }] of rows.contents()) {
    const isBought = content !== 0 && mayBePaid(status) && isOf(index, content) && isOf(index, asked);
    const found = [...(isBought ? [content, asked] : []), ...earlier.filter((one) => isOf(index, one))];
    if (found.length > 0) buyers.add(index);
    for (const one of found) bits.add(one);
  }
  return buyers;
}

/** How purchases of another run are compared. */
interface ComparedBy {
  readonly asSent?: boolean;
  readonly byBytes?: HashesByBytes;
  readonly uploaded?: UploadedRequests | undefined;
}

/**
 * The hashes of a request that was sent.
 *
 * @param asSent without how the manifest writes it
 * @param isByBytes if it has uploaded pictures, only the hashes by their bytes and without them
 */
export function hashesSent(
  intent: IntentRecord,
  { asSent, isByBytes = asSent }: { asSent: boolean; isByBytes?: boolean } = { asSent: false },
): readonly string[] {
  const { hash, asked = hash, takes, kind } = intent;
  const byBytes = isByBytes && takes === undefined && kind === 'edit' ? uploadedHashes(intent) : [];
  if (byBytes.length > 0) return byBytes;
  return asSent && takes === undefined ? [askedHash(intent)] : [hash, asked];
}

/**
 * The rows to send that ask for what was bought. `undefined` if nothing was.
 *
 * @param mayBeBought whether a further row may have been bought. @defaultValue none
 * @param byBytes what was compared by bytes. @defaultValue nothing
 */
export async function tallied(
  { toSend, priceOf, isSame }: Sent,
  bought: Buyers,
  mayBeBought?: (row: Row) => Promise<boolean>,
  byBytes?: HashesByBytes,
): Promise<BoughtRows | undefined> {
  if (bought.size === 0 && mayBeBought === undefined) return undefined;
  const [tally, twice] = [new SameTally(), new SameTally()];
  for await (const row of toSend()) {
    const by = buyerOf(row, bought, byBytes);
    if (by === undefined && (await mayBeBought?.(row)) !== true) continue;
    tally.add(row, 0, priceOf(row), by);
    if (isSame(row)) twice.add(row, 0, priceOf(row));
  }
  const rows = tally.result();
  if (rows.rows === 0 && bought.size === 0) return undefined;
  return { ...rows, ...(twice.result().rows > 0 && { twice: twice.result() }) };
}

/** The id of the row that has bought what this row asks for. */
function buyerOf(row: Row, bought: Buyers, byBytes?: HashesByBytes): string | undefined {
  if (isRead(row)) return undefined;
  const at = repeatOf(row) - 1;
  const ways = [...hashesOf(row), byBytes?.known(row) ?? row.hash];
  const way = ways.find((one) => bought.get(one)?.[at] !== undefined);
  return way === undefined ? undefined : bought.get(way)?.[at];
}

/** The row's number in `--repeat`: the second one asks for what was bought if it was bought twice. */
function repeatOf(row: Row): number {
  return row.product?.repeat ?? 1;
}

/** Finds the rows with equal requests that this start would send, and decides about each row as the first pass did. */
export class SameAhead {
  readonly #tally = new SameTally();
  /** Of the rows in the tally. */
  readonly #ids = new Set<string>();
  /** By its line: the first row of each request, if this start sends it. */
  readonly #firstSent = new Map<number, Pick<Row, 'id' | 'line'>>();
  readonly #select: SelectRows;

  constructor(
    private readonly options: ResolvedOptions,
    private readonly known: Pick<JournalRows, 'rows'>,
    private readonly rules: ManifestRules,
  ) {
    this.#select = new SelectRows(options);
  }

  /** Call this with every valid row, in order, and with what `SameRequests.firstLine` returns for it. */
  see(row: Row, firstLine: number): void {
    const state = this.known.rows?.get(row.id);
    const task = decideRow(row, state, this.rules);
    const isSent = task !== undefined && this.#select.takes(row) && task.what === 'send';
    if (firstLine === 0) return;
    if (!isSent) return this.#seeBought(row, state, firstLine);
    if (firstLine !== row.line) this.#add(row, firstLine, row);
    else if (this.known.rows !== undefined) this.#firstSent.set(firstLine, { id: row.id, line: row.line });
  }

  /** The first of the rows that ask for this is sent, and this one has bought it. */
  #seeBought(row: Row, state: RowState | undefined, firstLine: number): void {
    const first = this.#firstSent.get(firstLine);
    if (first === undefined || state === undefined) return;
    if (!(mayBePaid(state.status) || state.isHeldBefore) || !state.sameContent(row.hash)) return;
    this.#firstSent.delete(firstLine);
    this.#add(first, row.line, row);
  }

  #add(again: Pick<Row, 'id' | 'line'>, sameAsLine: number, row: Row): void {
    this.#ids.add(again.id);
    this.#tally.add(again, sameAsLine, this.options.prices.priceOf(row));
  }

  /** Whether `found` has the row. */
  has({ id }: Pick<Row, 'id'>): boolean {
    return this.#ids.has(id);
  }

  found(): SameRows {
    return this.#tally.result();
  }
}
