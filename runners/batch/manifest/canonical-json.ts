/** JSON in which the order of keys does not count: they stand sorted, at every depth. Absent and `undefined` are the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** The same value with sorted keys; itself when they are sorted already, at every depth. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? sortedList(value) : sortedObject(value as Record<string, unknown>);
}

function sortedList(list: readonly unknown[]): readonly unknown[] {
  const entries = list.map(sorted);
  return entries.every((entry, at) => entry === list[at]) ? list : entries;
}

function sortedObject(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  // Each value once, whatever comes of it: values lie within values.
  const values = keys.map((key) => sorted(object[key]));
  if (isSorted(keys) && values.every((value, at) => value === object[keys[at] ?? ''])) return object;
  const result: Record<string, unknown> = {};
  const byKey = new Map(keys.map((key, at) => [key, values[at]]));
  for (const key of keys.sort()) {
    const value = byKey.get(key);
    if (key === '__proto__') Object.defineProperty(result, key, { value, enumerable: true });
    else result[key] = value;
  }
  return result;
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);
}
