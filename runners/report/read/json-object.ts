export type JsonObject = Record<string, unknown>;

/** `undefined` for anything but one JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A finite number, or what stands in for it. */
export function numberOr<T>(value: unknown, other: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : other;
}

/** The object under a name; an empty one where there is none. */
export function objectIn(line: JsonObject, name: string): JsonObject {
  const value = line[name];
  return isObject(value) ? value : {};
}
