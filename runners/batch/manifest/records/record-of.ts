import { quoteValue } from '../quote-value.js';
import { parseJson } from '../rows/parse-json.js';
import type { RawRecord } from './raw-record.js';
import type { TextLine } from './split-lines.js';

/** A line of JSON as a row that is not understood yet. */
export function recordOf({ text, line }: TextLine): RawRecord {
  const parsed = parseJson(text);
  if ('problem' in parsed)
    return brokenRecord(
      { text, line },
      parsed.isNoJson ? `${parsed.problem}; write one object a line` : parsed.problem,
      parsed.below,
    );
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return brokenRecord({ text, line }, `is no JSON object, but ${quoteValue(value)}`);
  const names = Object.keys(value);
  const wrong = names.find((name) => name === '' || name === '__proto__');
  if (wrong !== undefined) return brokenRecord({ text, line }, `has a key ${quoteValue(wrong)}; rename it`);
  return { line, names, values: Object.values(value) };
}

export function brokenRecord({ text, line }: TextLine, message: string, column?: string): RawRecord {
  return { line, names: [], values: [text], problem: { ...(column !== undefined && { column }), message } };
}
