import { quoteValue } from '../quote-value.js';
import { parseJson } from './parse-json.js';

/** The entries of an `images` cell: a list, a JSON array, or texts separated by white space or `|`. */
export function imageList(
  value: unknown,
): { readonly images: readonly unknown[] } | { readonly problem: string } {
  if (Array.isArray(value)) return { images: value };
  if (typeof value !== 'string') return { problem: `is no list of URLs, but ${quoteValue(value)}` };
  if (value.trimStart().startsWith('[')) return fromJson(value);
  return { images: value.split(/[\s|]+/).filter((image) => image !== '') };
}

function fromJson(text: string): { readonly images: readonly unknown[] } | { readonly problem: string } {
  const parsed = parseJson(text);
  if ('problem' in parsed) return { problem: `begins with "[", but ${parsed.problem}` };
  return { images: parsed.value as unknown[] };
}
