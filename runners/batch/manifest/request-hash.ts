import { hash } from 'node:crypto';

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

/** Eight hex digits of a hash, from `at`, as a number. It ends at the first other character. */
export function hashWord(hash: string, at: number): number {
  let value = 0;
  for (let place = at; place < at + 8; place++) {
    const sign = hash.charCodeAt(place);
    const digit = sign < letterA ? sign - zero : sign - letterA + 10;
    if (!(digit >= 0 && digit < 16) || (digit > 9 && sign < letterA)) break;
    value = value * 16 + digit;
  }
  return value;
}

const zero = 0x30;
const letterA = 0x61;

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

/** A copy with sorted keys. */
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
