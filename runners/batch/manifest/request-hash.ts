import { hash } from 'node:crypto';
import { unescapeFormula } from './columns/formula-text.js';
import { imageEditDefaults } from '../../../src/contract/image-edit.js';

const length = 24;

/** Identifies a request: the first 24 hex digits of the SHA-256 of kind, endpoint and content in canonical JSON. */
export function requestHash(sent: {
  readonly kind: string;
  readonly endpoint: string;
  readonly request: unknown;
}): string {
  const { kind, endpoint, request } = sent;
  // These keys are in sorted order already.
  return hash('sha256', canonicalJson({ endpoint, kind, request }), 'hex').slice(0, length);
}

/** The hashes of a row: its own, and those of the other ways to write its request. */
export interface RowHashes {
  readonly hash: string;
  readonly alike?: readonly string[];
}

/** The hashes of all ways to write a row's request, its own first: the others are only computed if they are read. */
export function* hashesOf(row: RowHashes): Generator<string, void, void> {
  yield row.hash;
  yield* row.alike ?? [];
}

/** A `RowRequest`. */
interface Asked {
  readonly kind: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** The kind and endpoint of a row, and the columns among which may be `redo`. */
interface AskedBy {
  readonly kind: string;
  readonly endpoint: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

/**
 * Identifies what a row asks for. A column `redo` names the purchase that the row replaces. It is hashed, though not sent: the
 * same request with `redo` counts as changed, so that `--changed redo` buys it once.
 */
export function rowHash({ kind, endpoint, columns }: AskedBy, request: unknown): string {
  const { redo } = columns;
  const asked = typeof redo === 'string' && redo !== '' ? { redo, request } : request;
  return requestHash({ kind, endpoint, request: asked });
}

/**
 * The same for all ways to write a request: with paths of pictures or their URLs, with default values or without, with the line
 * breaks and composed letters of one editor or another, or as results.csv escapes them.
 */
export function askedHash(
  row: AskedBy & { readonly request: Asked; readonly hash: string; readonly isAsWritten?: boolean },
): string {
  const asked = askedRequest(row.request);
  // Only an edit may be sent in another form than it is written in.
  const isAsWritten = row.isAsWritten ?? row.kind !== 'edit';
  return asked === row.request && isAsWritten ? row.hash : rowHash(row, asked);
}

/** The request as it is sent, without default values and with texts in one form. The same object if it is so already. */
function askedRequest(request: Asked): unknown {
  const { kind, input } = request;
  if (kind !== 'edit' || input === undefined) return isPlain(request) ? request : plainTexts(request);
  const isDefault = Object.entries(imageEditDefaults).some(([field, value]) => input[field] === value);
  return plainTexts(isDefault ? { ...request, input: withoutDefaults(input) } : request);
}

function withoutDefaults(input: Readonly<Record<string, unknown>>): unknown {
  const defaults: Readonly<Record<string, unknown>> = imageEditDefaults;
  return Object.fromEntries(Object.entries(input).filter(([field, value]) => defaults[field] !== value));
}

/** Whether `plainTexts` would change nothing. Most texts are so, and this creates no objects. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !hasOtherForms.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key])) return false;
  return true;
}

/**
 * The value with line feeds as line breaks, composed letters and no apostrophe before what looks like a formula. The same object if
 * its texts are so already.
 */
function plainTexts(value: unknown): unknown {
  if (typeof value === 'string')
    return hasOtherForms.test(value)
      ? unescapeFormula(value).replace(/\r\n?/g, '\n').normalize('NFC')
      : value;
  if (typeof value !== 'object' || value === null) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, entry] of Object.entries(value)) {
    const plain = plainTexts(entry);
    if (plain === entry) continue;
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
    copy[key] = plain;
  }
  return copy ?? value;
}

const hasOtherForms = /^'|[\r\u0080-\uffff]/;

/** Eight hex digits of a hash, from `at`, as a number. It ends at the first other character. */
export function hashWord(hash: string, at: number): number {
  let value = 0;
  for (let place = at; place < at + 8; place++) {
    const digit = digitOf[hash.charCodeAt(place)] ?? -1;
    if (digit < 0) break;
    value = (value << 4) | digit;
  }
  return value >>> 0;
}

/** By the code of a character; a table takes half as long as comparing. */
const digitOf = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
);

/** JSON with sorted keys at every depth, so that their order makes no difference. Absent and `undefined` are the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sorted(value));
}

function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let before: string | undefined;
  // Creating a list of keys would take as long as all the rest. Inherited keys need not be skipped: they can only make a sorted
  // object look unsorted.
  for (const key in value) {
    if (before !== undefined && before > key) return false;
    before = key;
    if (!isSorted((value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  // It may be a date, or another object that has no keys but its own `toJSON`.
  if (keys.length === 0) return object;
  const result: Record<string, unknown> = {};
  for (const key of keys.sort()) {
    const entry = sorted(object[key]);
    if (key === '__proto__') Object.defineProperty(result, key, { value: entry, enumerable: true });
    else result[key] = entry;
  }
  return result;
}
