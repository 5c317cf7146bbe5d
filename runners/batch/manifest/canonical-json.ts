/** JSON in which the order of keys does not count: they stand sorted, at every depth. Absent and `undefined` are the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** The same value with sorted keys; itself when they are sorted already. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? sortedList(value) : sortedObject(value as Record<string, unknown>);
}

function sortedList(list: readonly unknown[]): readonly unknown[] {
  return list.every((entry) => typeof entry !== 'object') ? list : list.map(sorted);
}

function sortedObject(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  if (isSorted(keys) && keys.every((key) => typeof object[key] !== 'object')) return object;
  const result: Record<string, unknown> = {};
  for (const key of keys.sort()) {
    if (key === '__proto__')
      Object.defineProperty(result, key, { value: sorted(object[key]), enumerable: true });
    else result[key] = sorted(object[key]);
  }
  return result;
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);
}
