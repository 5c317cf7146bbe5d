import { crc32 } from 'node:zlib';
import { MillraceError } from '../../../../src/contract/millrace-error.js';
import type { JournalRecord } from '../record.js';

/** Raised when an older reader would misread what is written. A newer format is refused by `recover`. */
export const journalFormat = 1;

/** Bytes of `,"c":"xxxxxxxx"}`: the checksum closes every line. */
export const checksumBytes = 16;

/** A record that cannot be written as JSON: nested too deep for the stack, cyclic, or with a BigInt. Nothing of it is kept. */
export class UnfitRecord extends MillraceError {
  static override readonly name: string = 'UnfitRecord';

  constructor({ k, ...record }: JournalRecord, cause: unknown) {
    const row = 'id' in record ? ` of row ${JSON.stringify(record.id)}` : '';
    const why = cause instanceof Error ? cause.message : String(cause);
    super('unfit-record', `The record "${k}"${row} cannot be written as JSON: ${why}`, { cause });
  }
}

/**
 * One record as one line: a JSON object with the small fields first, so that a reader finds what it needs without
 * parsing the row's content, and last `c`, the CRC-32 of everything before `,"c":`.
 *
 * @param n Counts the records of a journal from 1, without a gap.
 * @throws {UnfitRecord}
 */
export function encodeRecord(n: number, record: JournalRecord): Buffer {
  const text = asJson(n, record).slice(0, -1);
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes, Buffer.from(`,"c":"${checksumText(crc32(bytes))}"}\n`)]);
}

export function checksumText(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

function asJson(n: number, record: JournalRecord): string {
  try {
    return JSON.stringify(inOrder(n, record));
  } catch (cause) {
    throw new UnfitRecord(record, cause);
  }
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
