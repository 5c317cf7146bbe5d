import { pricedOf, type Priced } from '../../ledger/price-book.js';
import { IdHash } from '../../manifest/duplicates/id-hash.js';
import type { IdBook } from '../../manifest/duplicates/id-book.js';
import type { EachHash } from '../../manifest/duplicates/hash-table.js';
import { isBought, type Row } from '../../manifest/manifest-row.js';
import type { LeftOut, SectionStart } from '../../manifest/records/manifest-sections.js';
import { contentBits } from '../../journal/rows/row-states.js';
import type { PictureNames } from '../../pictures/picture-names.js';
import { HashList, type SpooledChunks } from './spooled-chunks.js';

/** What is kept about the rows in addition to their hashes, as plain values. */
export interface KeptRows {
  readonly length: number;
  readonly sections: readonly RowsOfSection[];
  readonly purchases: readonly Purchases[];
  readonly hasCapitals: boolean;
  readonly areAlike: boolean;
}

/** A section of the manifest, with the number of rows before it. */
interface RowsOfSection extends SectionStart {
  readonly rowsBefore: number;
}

/** How many rows have the same kind, endpoint and resolution. */
interface Purchases {
  readonly what: Priced;
  count: number;
}

const chunkRows = 1 << 12;
/** 32-bit words per row: both halves of the hash of its id, and the first part of the hash of its content. */
const words = 3;
const mostPurchases = 1_000;

/** The rows of a manifest, with the sections of the file in which they are: 12 bytes per row. */
export class CheckedRows {
  hasCapitals = false;
  /** Two ids differ only in case. */
  areAlike = false;
  #sections: RowsOfSection[] = [];
  #nextSection = 0;
  #purchases: Purchases[] = [];
  #latest: Purchases | undefined;
  readonly #rows: HashList;
  readonly #id = new IdHash();

  /** @param spool where the rows are stored meanwhile. @defaultValue memory */
  constructor(spool?: SpooledChunks) {
    this.#rows = new HashList(words, spool);
  }

  get length(): number {
    return this.#rows.length;
  }

  get kept(): KeptRows {
    const { length, hasCapitals, areAlike } = this;
    return { length, hasCapitals, areAlike, sections: this.#sections, purchases: this.#purchases };
  }

  /** False if there are too many different purchases to be kept. */
  get isKnown(): boolean {
    return this.#purchases.length < mostPurchases;
  }

  /**
   * Call this with every row, in order.
   *
   * @param starts the sections found so far, at least up to that of the row
   */
  add(row: Row, starts: readonly SectionStart[]): void {
    const { id, hash, line } = row;
    for (
      let start = starts[this.#nextSection];
      start && start.line <= line;
      start = starts[++this.#nextSection]
    )
      // The part before the first row names the columns, so it is always read.
      if (this.length > 0 || start.line === line) this.#sections.push({ ...start, rowsBefore: this.length });
    const { high, low } = this.#id.ofText(id);
    this.#rows.add(high, low, contentBits(hash));
    if (isBought(row)) this.#addPurchase(row);
  }

  /** Call this with the id of every row, after `names` has seen it. */
  addName(id: string, names: PictureNames, ids: Pick<IdBook, 'has'>): void {
    this.hasCapitals ||= names.hasCapitals;
    this.areAlike ||= names.isAlike(id, ids);
  }

  get eachId(): EachHash {
    return this.#rows.eachHash;
  }

  /** The bytes of the rows as they are in memory, chunk by chunk. Each chunk is valid until the next one is requested. */
  async *bytes(): AsyncGenerator<Uint8Array, void, void> {
    for await (const { buffer, byteLength } of this.#rows.chunks())
      yield new Uint8Array(buffer, 0, byteLength);
  }

  /** Consecutive rows usually buy the same, so the latest entry is tried first. */
  #addPurchase(row: Row): void {
    const what = this.#latest?.what;
    if (what?.kind !== row.kind || what.endpoint !== row.endpoint || what.resolution !== row.resolution)
      this.#latest = this.#purchaseOf(row);
    if (this.#latest !== undefined) this.#latest.count++;
  }

  #purchaseOf(row: Row): Purchases | undefined {
    const { kind, endpoint, resolution } = row;
    const isSame = ({ what }: Purchases): boolean =>
      what.kind === kind && what.endpoint === endpoint && what.resolution === resolution;
    const found = this.#purchases.find(isSame);
    if (found !== undefined || !this.isKnown) return found;
    const purchases = { what: pricedOf(row), count: 0 };
    this.#purchases.push(purchases);
    return purchases;
  }
}

/**
 * The sections whose rows all stay as they are, and whether this is true of the whole manifest. Rows are read in chunks: one
 * byte per row is kept, not its hashes.
 *
 * @param fill returns the bytes that `CheckedRows.bytes` produced, in order
 * @param bytes where the last section ends
 */
export async function sectionsLeftAlone(
  { length, sections: kept }: Pick<KeptRows, 'length' | 'sections'>,
  fill: (into: Uint8Array) => Promise<void>,
  isLeftAlone: (id: Pick<IdHash, 'high' | 'low'>, bits: number) => boolean,
  bytes: number,
): Promise<{ readonly isAll: boolean; readonly sections: LeftOut[] }> {
  const alone = new Uint8Array(length);
  const chunk = new Uint32Array(words * chunkRows);
  for (let from = 0; from < length; from += chunkRows) {
    const rows = Math.min(chunkRows, length - from);
    await fill(new Uint8Array(chunk.buffer, 0, 4 * words * rows));
    for (let row = 0, at = 0; row < rows; row++, at += words)
      if (isLeftAlone({ high: chunk[at] ?? 0, low: chunk[at + 1] ?? 0 }, chunk[at + 2] ?? 0))
        alone[from + row] = 1;
  }
  const areAlone = (from: number, to: number): boolean => !alone.subarray(from, to).includes(0);
  const all = [...kept, { at: bytes, line: Infinity, rowsBefore: length }];
  const sections: LeftOut[] = [];
  let isAll = areAlone(0, all[0]?.rowsBefore ?? 0);
  for (const [index, section] of kept.entries()) {
    const next = all[index + 1] as RowsOfSection;
    if (!areAlone(section.rowsBefore, next.rowsBefore)) isAll = false;
    else addSection(sections, section, next);
  }
  return { isAll, sections };
}

/** Merges sections that follow each other. */
function addSection(sections: LeftOut[], section: RowsOfSection, next: RowsOfSection): void {
  const last = sections.at(-1);
  const [rows, lines] = [next.rowsBefore - section.rowsBefore, next.line - section.line];
  if (last?.to === section.at)
    sections[sections.length - 1] = {
      ...last,
      to: next.at,
      lines: last.lines + lines,
      rows: last.rows + rows,
    };
  else sections.push({ from: section.at, to: next.at, line: section.line, lines, rows });
}
