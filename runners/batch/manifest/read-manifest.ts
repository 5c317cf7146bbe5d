import { checkEndpointId } from '../../../src/contract/request-parts.js';
import type { IdKeeper } from './duplicates/id-book.js';
import { ManifestError } from './manifest-error.js';
import type { ManifestSettings } from './manifest-settings.js';
import { quoteValue } from './quote-value.js';
import { LeftOutBefore, type LeftOut } from './records/manifest-sections.js';
import type { RawRecord } from './records/raw-record.js';
import type { ManifestItem } from './manifest-row.js';
import { RowBuilder } from './rows/row-builder.js';
import { readUtf8 } from './records/read-utf8.js';
import { parseCsv } from './records/parse-csv.js';
import { parseJsonl } from './records/parse-jsonl.js';

/**
 * Reads a manifest row by row, in constant memory: a row is created when it is pulled, and the next chunk (16 kB) is read when
 * the rows of the last one are used up. An invalid row is an item with all its problems. If the file cannot be read further,
 * `next` throws `ManifestError` (code `manifest`, with the line).
 *
 * @param ids keeps the ids of rows unique. @defaultValue a new `IdBook`
 * @param leftOut lines that are missing in `bytes`; they count for the numbers of the others. @defaultValue none
 */
export function readManifest(
  bytes: AsyncIterable<Uint8Array>,
  settings: ManifestSettings,
  ids?: IdKeeper,
  leftOut: readonly LeftOut[] = [],
): AsyncIterableIterator<ManifestItem> {
  return flattenBatches(readBatches(bytes, settings, ids, leftOut));
}

async function* readBatches(
  bytes: AsyncIterable<Uint8Array>,
  settings: ManifestSettings,
  ids: IdKeeper | undefined,
  leftOut: readonly LeftOut[],
): AsyncGenerator<Iterable<ManifestItem>> {
  checkEndpoint(settings);
  const before = leftOut.length === 0 ? undefined : new LeftOutBefore(leftOut);
  const builder = new RowBuilder(settings, ids, before);
  for await (const batch of readRawRecords(bytes, settings)) yield builder.rowsOf(batch);
}

/** Checks the endpoint once for all rows. */
function checkEndpoint({ name, endpoint }: ManifestSettings): void {
  const problem = endpoint === undefined ? undefined : checkEndpointId(endpoint);
  if (problem !== undefined) throw new ManifestError(name, `--endpoint ${quoteValue(endpoint)} ${problem}`);
}

/** The manifest's lines as cells, in one batch for each chunk of text. The next chunk is read when a batch is used up. */
export function readRawRecords(
  bytes: AsyncIterable<Uint8Array>,
  settings: Pick<ManifestSettings, 'name' | 'format' | 'gzip' | 'map' | 'delimiter' | 'separatedBy'>,
): AsyncGenerator<Iterable<RawRecord>> {
  const text = readUtf8(bytes, settings);
  return settings.format === 'csv' ? parseCsv(text, settings) : parseJsonl(text, settings.name);
}

/**
 * The items of all batches, each created when it is pulled. An async generator would need three more promises per item.
 * Overlapping calls of `next` resolve in order.
 */
export function flattenBatches<T>(batches: AsyncGenerator<Iterable<T>>): AsyncIterableIterator<T> {
  return new Flattened(batches);
}

class Flattened<T> implements AsyncIterableIterator<T> {
  readonly #batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> = [][Symbol.iterator]();
  #refill: Promise<IteratorResult<T>> | undefined;

  constructor(batches: AsyncGenerator<Iterable<T>>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#refill === undefined) {
      const item = this.#take();
      if (item !== undefined) return item;
    }
    const after = this.#refill ?? Promise.resolve();
    const refill = after
      .then(() => this.#pull())
      .finally(() => {
        if (this.#refill === refill) this.#refill = undefined;
      });
    this.#refill = refill;
    return refill;
  }

  async return(): Promise<IteratorResult<T>> {
    this.#batch = [][Symbol.iterator]();
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  /** The next item of this batch. An error ends the whole iteration, as in a generator. */
  #take(): Promise<IteratorResult<T>> | undefined {
    try {
      const item = this.#batch.next();
      return item.done === true ? undefined : Promise.resolve(item);
    } catch (error) {
      return this.return().then(() => {
        throw error;
      });
    }
  }

  async #pull(): Promise<IteratorResult<T>> {
    for (;;) {
      const item = this.#take();
      if (item !== undefined) return item;
      const next = await this.#batches.next();
      if (next.done === true) return { done: true, value: undefined };
      this.#batch = next.value[Symbol.iterator]();
    }
  }
}
