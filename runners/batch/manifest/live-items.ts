import type { ManifestSettings } from './manifest-settings.js';
import { quoteValue } from './quote-value.js';
import { recordOf, brokenRecord, type RawRecord } from './records/raw-record.js';
import { requestHash } from './request-hash.js';
import type { ManifestItem } from './manifest-row.js';
import { RowBuilder } from './rows/row-builder.js';
import { BrokenLine } from './read-live-lines.js';
import type { IdKeeper } from './duplicates/id-book.js';

/**
 * Rows as they arrive, each made when it is asked for: objects with the names of columns as keys, or lines of JSON text.
 * Nothing is known of what follows, so that ids are not checked against each other; a row without one goes by its request.
 */
export async function* liveItems(
  values: AsyncIterable<unknown> | Iterable<unknown>,
  settings: ManifestSettings,
): AsyncGenerator<ManifestItem, void, void> {
  const builder = new RowBuilder(settings, liveIds);
  let line = 0;
  for await (const value of values) {
    const item = builder.build(rawRecord(value, ++line));
    yield item.valid ? item : { valid: false, row: { ...item.row, key: invalidKey(item.row) } };
  }
}

/** The id of a wrong row is not taken by it: the corrected row may come under the same one. */
function invalidKey({ id, key, cells }: Extract<ManifestItem, { valid: false }>['row']): string {
  if (id === undefined) return key;
  return `${id}~${requestHash({ kind: 'invalid', endpoint: '', request: cells }).slice(0, 12)}`;
}

function rawRecord(value: unknown, line: number): RawRecord {
  if (typeof value === 'string') return recordOf({ text: value, line });
  if (value instanceof BrokenLine) return brokenRecord({ text: '', line }, value.problem);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return brokenRecord({ text: '', line }, `is no object, but ${shown(value)}`);
  // As it would stand in a file: what JSON has no word for is not sent either.
  return recordOf({ text: jsonOf(value), line });
}

/** What JSON has no word for is named by its type. */
function shown(value: unknown): string {
  return value === undefined || typeof value === 'function' ? typeof value : quoteValue(value);
}

/** The empty string, which is no JSON, for what cannot be written. */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

const derivedDigits = 12;

/** In a stream that may tell a row twice, the same id is the same row, and so is the same request where there is none. */
const liveIds: IdKeeper = {
  claim: () => 0,
  claimJob: () => 0,
  derive: (requestHash) => ({ id: requestHash.slice(0, derivedDigits), repeat: 1 }),
};
