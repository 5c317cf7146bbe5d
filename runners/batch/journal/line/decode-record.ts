import { crc32 } from 'node:zlib';
import { checksumBytes } from './encode-record.js';
import type { JournalRecord } from '../record.js';
import { hexAt } from './hex-at.js';

export interface NumberedRecord {
  readonly n: number;
  readonly record: JournalRecord;
}

/** What the line says of itself, not of the run. */
const framing = ['n', 'c', 'format'];

/** The record of a line whose checksum `hasGoodChecksum` has found right. */
export function decodeRecord(line: Buffer): NumberedRecord {
  const fields = JSON.parse(line.toString()) as Record<string, unknown>;
  const n = fields['n'] as number;
  for (const name of framing) Reflect.deleteProperty(fields, name);
  return { n, record: fields as unknown as JournalRecord };
}

/** Whether `bytes[start, end)` is a whole record: opened and closed as one, with the right checksum. */
export function hasGoodChecksum(bytes: Buffer, start: number, end: number): boolean {
  const bodyEnd = end - checksumBytes;
  if (bodyEnd <= start || bytes[start] !== brace || !endsLikeRecord(bytes, end)) return false;
  return crc32(bytes.subarray(start, bodyEnd)) === hexAt(bytes, end - 10);
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
