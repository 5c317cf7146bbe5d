import { hash } from 'node:crypto';

const digits = 24;

/** Identifies a request: the first 24 hex digits of the SHA-256 of kind, endpoint and content in canonical JSON. */
export function requestHash(sent: {
  readonly kind: string;
  readonly endpoint: string;
  readonly request: unknown;
}): string {
  const { kind, endpoint, request } = sent;
  // These keys are in sorted order already.
  return hash('sha256', canonicalJson({ endpoint, kind, request }), 'hex').slice(0, digits);
}

/** JSON with sorted keys at every depth, so that their order makes no difference. Absent and `undefined` are the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sorted(value));
}

function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let before: string | undefined;
  for (const key of Object.keys(value)) {
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
  // A date, or another object without keys that has its own `toJSON`.
  if (keys.length === 0) return object;
  const result: Record<string, unknown> = {};
  for (const key of keys.sort()) {
    const entry = sorted(object[key]);
    if (key === '__proto__') Object.defineProperty(result, key, { value: entry, enumerable: true });
    else result[key] = entry;
  }
  return result;
}
