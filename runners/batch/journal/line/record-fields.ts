/** Fields at the front of a record. Whatever else stands there is passed over. */
const names = [
  ...(['n', 'k', 'at', 'id', 'row', 'hash', 'kind', 'endpoint', 'mode', 'attempt', 'price'] as const),
  ...(['resolution', 'takes', 'jobId', 'cost', 'source', 'delayTime', 'executionTime'] as const),
  ...(['statusCalls', 'submittedAt', 'status', 'to', 'why', 'error', 'code'] as const),
];

/** A number for each field: its place among them. */
export const field = Object.fromEntries(names.map((name, place) => [name, place])) as Readonly<
  Record<(typeof names)[number], number>
>;

export const fieldCount = names.length;

const quote = 0x22;

/** Each name as it stands in a line, up to its value. */
const keys = names.map((name) => Buffer.from(`${name}":`));
const placesByKey = new Map(keys.map((key, place) => [keyOf(key, 0, key.length - 2), place]));

/** Whether the name of this field, and the colon behind it, stand at `at`. */
export function isFieldAt(bytes: Buffer, at: number, place: number): boolean {
  const key = keys[place];
  if (key === undefined) return false;
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

/** How long the name is, with what stands between it and its value. */
export function keyLength(place: number): number {
  return keys[place]?.length ?? 0;
}

/** The field named by `bytes[start, end)`; `fieldCount` for any other name. */
export function fieldNamed(bytes: Buffer, start: number, end: number): number {
  const place = placesByKey.get(keyOf(bytes, start, end));
  return place !== undefined && bytes[end] === quote && isFieldAt(bytes, start, place) ? place : fieldCount;
}

/** First letter, last letter and length tell the names apart. */
function keyOf(bytes: Buffer, start: number, end: number): number {
  return (bytes[start] ?? 0) | ((bytes[end - 1] ?? 0) << 8) | ((end - start) << 16);
}
