import type { ManifestSettings } from './manifest-settings.js';
import { quoteValue } from './quote-value.js';
import { brokenRecord, recordOf } from './records/parse-jsonl.js';
import type { RawRecord } from './records/raw-record.js';
import { requestHash } from './request-hash.js';
import type { ManifestItem } from './manifest-row.js';
import { RowBuilder } from './rows/row-builder.js';
import { BrokenLine } from './read-live-lines.js';
import type { IdKeeper } from './duplicates/id-book.js';

/**
 * Creates rows from values as they arrive: objects with column names as keys, or lines of JSON text. Ids are not checked
 * against each other, because later rows are not known. A row without an id gets one from its request.
 */
export async function* liveItems(
  values: AsyncIterable<unknown> | Iterable<unknown>,
  settings: ManifestSettings,
): AsyncGenerator<ManifestItem, void, void> {
  const builder = new RowBuilder(settings, liveIds);
  let line = 0;
  for await (const value of values) {
    line += 1;
    // A blank line is none of the rows, as in a file.
    if (typeof value === 'string' && value.trim() === '') continue;
    for (const item of builder.rowsOf([rawRecord(value, line)]))
      yield item.valid ? item : { valid: false, row: { ...item.row, key: invalidKey(item.row) } };
  }
}

/** An invalid row does not claim its id, so that the corrected row can arrive with the same id. */
function invalidKey({ id, key, cells }: Extract<ManifestItem, { valid: false }>['row']): string {
  if (id === undefined) return key;
  return `${id}~${requestHash({ kind: 'invalid', endpoint: '', request: cells }).slice(0, 12)}`;
}

function rawRecord(value: unknown, line: number): RawRecord {
  if (typeof value === 'string') return recordOf({ text: value, line });
  if (value instanceof BrokenLine) return brokenRecord({ text: '', line }, value.problem);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return brokenRecord({ text: '', line }, `is not an object, but ${shown(value)}`);
  // As in a file, only values that JSON can express are sent.
  return recordOf({ text: jsonOf(value), line });
}

/** A value for a message; its type if JSON cannot express it. */
function shown(value: unknown): string {
  return value === undefined || typeof value === 'function' ? typeof value : quoteValue(value);
}

/** The JSON text of an object; the empty string, which is not JSON, if it has none. */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

const derivedDigits = 12;

/** Accepts repeated ids, because a stream may deliver a row twice: the same id, or without one the same request, is the same row. */
const liveIds: IdKeeper = {
  claim: () => 0,
  claimJob: () => 0,
  derive: (requestHash) => ({ id: requestHash.slice(0, derivedDigits), repeat: 1 }),
};
