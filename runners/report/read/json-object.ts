import { isPlainObject } from '../../../src/contract/bounded-json.js';
export type JsonObject = Record<string, unknown>;

/** The value if it is a JSON object, else `undefined`. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A finite number, or the default. */
export function numberOr<T>(value: unknown, other: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : other;
}

/** A text; any other value is an empty one. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The object under a name; an empty object if there is none. */
export function objectIn(line: JsonObject, name: string): JsonObject {
  const value = line[name];
  return isPlainObject(value) ? value : {};
}
