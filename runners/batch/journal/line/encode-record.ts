import { crc32 } from 'node:zlib';
import type { JournalRecord } from '../record.js';

/** Raised when an older reader would misread what is written. A newer format is refused by `recover`. */
export const journalFormat = 1;

/** Bytes of `,"c":"xxxxxxxx"}`: the checksum closes every line. */
export const checksumBytes = 16;

/**
 * One record as one line: a JSON object with the small fields first, so that a reader finds what it needs without
 * parsing the row's content, and last `c`, the CRC-32 of everything before `,"c":`.
 *
 * @param n Counts the records of a journal from 1, without a gap.
 */
export function encodeRecord(n: number, record: JournalRecord): Buffer {
  const text = JSON.stringify(inOrder(n, record)).slice(0, -1);
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes, Buffer.from(`,"c":"${checksumText(crc32(bytes))}"}\n`)]);
}

export function checksumText(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

function inOrder(n: number, record: JournalRecord): Record<string, unknown> {
  const { k, at, ...rest } = record;
  const line: Record<string, unknown> = { n, k, at };
  if (k === 'start') line['format'] = journalFormat;
  if ('id' in rest) line['id'] = rest.id;
  const fields = Object.entries(rest);
  for (const [name, value] of fields) if (!isBody(value)) line[name] = value;
  // The reader of heads looks into the error, and at no body behind another one.
  if ('error' in rest) line['error'] = codeFirst(rest.error);
  for (const [name, value] of fields) if (isBody(value) && name !== 'error') line[name] = value;
  return line;
}

function isBody(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The reader looks for the code right behind the brace. */
function codeFirst(error: object): object {
  return 'code' in error ? Object.assign({ code: error.code }, error) : error;
}
