import { crc32 } from 'node:zlib';
import { errorText, MillraceError } from '../../../../src/contract/millrace-error.js';
import { journalFormat, type JournalRecord } from '../record.js';

/** Bytes of `,"c":"xxxxxxxx"}`: every line ends with its checksum. */
export const checksumBytes = 16;

/** A record that cannot be written as JSON: nested too deep for the stack, cyclic, or with a BigInt. Nothing is written. */
export class UnfitRecord extends MillraceError {
  static override readonly name: string = 'UnfitRecord';

  constructor({ k, ...record }: JournalRecord, cause: unknown) {
    const row = 'id' in record ? ` of row ${JSON.stringify(record.id)}` : '';
    const why = errorText(cause);
    super('unfit-record', `The record "${k}"${row} cannot be written as JSON: ${why}`, { cause });
  }
}

/**
 * Encodes a record as one line: a JSON object with the small fields first, so that a reader finds what it needs without
 * parsing the row's content. The last field is `c`, the CRC-32 of everything before `,"c":`.
 *
 * @param n The number of the record in the journal, counted from 1 without gaps.
 * @throws {UnfitRecord}
 */
export function encodeRecord(n: number, record: JournalRecord): Buffer {
  try {
    const text = inOrder(n, record);
    if (text.length > longText) return encodeLong(text);
    return Buffer.from(`${text},"c":"${checksumText(crc32(text))}"}\n`);
  } catch (cause) {
    throw new UnfitRecord(record, cause);
  }
}

const longText = 256 * 1024;

/** The same without a second text: one of 10 MB would be copied into it. */
function encodeLong(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const line = Buffer.allocUnsafe(length + checksumBytes + 1);
  line.write(text);
  line.write(`,"c":"${checksumText(crc32(line.subarray(0, length)))}"}\n`, length);
  return line;
}

export function checksumText(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

/**
 * The JSON of the line without its closing brace. It is built as text, without a new object, because a run writes four
 * records per row.
 */
function inOrder(n: number, record: JournalRecord): string {
  let heads = `{"n":${n},"k":"${record.k}"${jsonField('at', record.at)}`;
  if (record.k === 'start') heads += jsonField('format', journalFormat);
  if ('id' in record) heads += jsonField('id', record.id);
  // The scanner of heads reads `error`, but stops at any other object: `error` comes first.
  let bodies = 'error' in record ? jsonField('error', codeFirst(record.error)) : '';
  for (const [name, value] of Object.entries(record)) {
    if (placed.has(name)) continue;
    if (typeof value === 'object' && value !== null) bodies += jsonField(name, value);
    else heads += jsonField(name, value);
  }
  return heads + bodies;
}

const placed: ReadonlySet<string> = new Set(['k', 'at', 'id', 'error']);

/** The field as JSON; empty if JSON has no representation for the value. */
function jsonField(name: string, value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? '' : `,"${name}":${text}`;
}

/** The scanner expects `code` as the first field. */
function codeFirst(error: object): object {
  return 'code' in error ? Object.assign({ code: error.code }, error) : error;
}

/** Fields of the line, not of the record. */
const framing = ['n', 'c', 'format'];

/** Decodes a line whose checksum was checked by `hasGoodChecksum`. */
export function decodeRecord(line: Buffer): { readonly n: number; readonly record: JournalRecord } {
  const fields = JSON.parse(line.toString()) as Record<string, unknown>;
  const n = fields['n'] as number;
  for (const name of framing) Reflect.deleteProperty(fields, name);
  return { n, record: fields as unknown as JournalRecord };
}

/** Whether `bytes[start, end)` is a whole record with the right beginning, end and checksum. */
export function hasGoodChecksum(bytes: Buffer, start: number, end: number): boolean {
  if (!isFramed(bytes, start, end)) return false;
  return crc32(bytes.subarray(start, end - checksumBytes)) === storedChecksum(bytes, end);
}

/** Whether `bytes[start, end)` begins and ends like a record. */
export function isFramed(bytes: Buffer, start: number, end: number): boolean {
  if (end - checksumBytes <= start || bytes[start] !== brace) return false;
  return endsLikeRecord(bytes, end) && storedChecksum(bytes, end) >= 0;
}

/** The checksum stored in the record that ends at `end`; -1 if there is none. */
export function storedChecksum(bytes: Buffer, end: number): number {
  return hexAt(bytes, end - 10);
}

const brace = 0x7b;
const opening = [...Buffer.from(',"c":"')];
const closing = [...Buffer.from('"}')];

function endsLikeRecord(bytes: Buffer, end: number): boolean {
  return matches(bytes, end - checksumBytes, opening) && matches(bytes, end - closing.length, closing);
}

function matches(bytes: Buffer, at: number, expected: readonly number[]): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

const headStart = '{"n":';
const checksumStart = ',"c":"';

/** The whole records in bytes that are not proper lines, from the first to the last. */
export function* salvage(bytes: Buffer): Generator<{ readonly start: number; readonly end: number }> {
  let start = bytes.indexOf(headStart);
  while (start >= 0) {
    const end = looksLikeHead(bytes, start) ? endOfRecord(bytes, start) : -1;
    if (end >= 0) yield { start, end };
    start = bytes.indexOf(headStart, end >= 0 ? end : start + 1);
  }
}

function endOfRecord(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(checksumStart, start); at >= 0; at = bytes.indexOf(checksumStart, at + 1)) {
    const end = at + checksumBytes;
    if (end <= bytes.length && hasGoodChecksum(bytes, start, end)) return end;
  }
  return -1;
}

/** A row's own content may contain `{"n":` as well, but hardly followed by a number and `"k"`. */
function looksLikeHead(bytes: Buffer, start: number): boolean {
  return /^\{"n":\d{1,16},"k":"/.test(bytes.toString('latin1', start, Math.min(start + 32, bytes.length)));
}

/** The value of each byte as a lower-case hex digit; -1 for other bytes. */
const digits = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) digits[value.toString(16).charCodeAt(0)] = value;

/** Eight lower-case hex digits as a number; -1, which is not a checksum, if one of them is not a hex digit. */
export function hexAt(bytes: Buffer, at: number): number {
  let value = 0;
  let sign = 0;
  for (let i = at; i < at + 8; i++) {
    const digit = digits[bytes[i] ?? 0] ?? -1;
    sign |= digit;
    value = (value << 4) | digit;
  }
  return sign < 0 ? -1 : value >>> 0;
}

/** Fields at the front of a record. Other fields there are skipped. */
const names = [
  ...(['n', 'k', 'at', 'id', 'row', 'hash', 'kind', 'endpoint', 'mode', 'attempt', 'price'] as const),
  ...(['resolution', 'takes', 'jobId', 'cost', 'source', 'delayTime', 'executionTime'] as const),
  ...(['statusCalls', 'submittedAt', 'status', 'to', 'why', 'error', 'code', 'asked'] as const),
];

/** The number of each field: its index in `names`. */
export const field = Object.fromEntries(names.map((name, place) => [name, place])) as Readonly<
  Record<(typeof names)[number], number>
>;

export const fieldCount = names.length;

const quote = 0x22;

/** Each name as it is in a line, up to its value. */
const keys = names.map((name) => Buffer.from(`${name}":`));
const placesByKey = new Map(keys.map((key, place) => [keyOf(key, 0, key.length - 2), place]));

/** Whether the name of this field and the colon after it are at `at`. */
export function isFieldAt(bytes: Buffer, at: number, place: number): boolean {
  const key = keys[place];
  if (key === undefined) return false;
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

/** The length of the field's name, including the quote and colon before its value. */
export function keyLength(place: number): number {
  return keys[place]?.length ?? 0;
}

/** The field named by `bytes[start, end)`; `fieldCount` for any other name. */
export function fieldNamed(bytes: Buffer, start: number, end: number): number {
  const place = placesByKey.get(keyOf(bytes, start, end));
  return place !== undefined && bytes[end] === quote && isFieldAt(bytes, start, place) ? place : fieldCount;
}

/** The first letter, the last letter and the length are different for each name. */
function keyOf(bytes: Buffer, start: number, end: number): number {
  return (bytes[start] ?? 0) | ((bytes[end - 1] ?? 0) << 8) | ((end - start) << 16);
}
