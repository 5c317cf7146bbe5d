import { ManifestError } from '../manifest-error.js';
import { quoteValue } from '../quote-value.js';
import { parseJson } from '../rows/parse-json.js';
import type { RawRecord } from './raw-record.js';
import { splitLines, type TextLine } from './split-lines.js';

/** JSON lines → rows, each parsed when it is asked for: what waits is text. Blank lines are no rows. */
export async function* parseJsonl(
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Iterable<RawRecord>> {
  let empty = true;
  for await (const lines of splitLines(chunks, name)) {
    if (empty) refuseArray(lines[0], name);
    empty = false;
    yield toRecords(lines);
  }
  if (empty) throw new ManifestError(name, 'is empty: it holds no rows, only blank lines');
}

/** A whole file that is one JSON array would give an error a line. */
function refuseArray(first: TextLine | undefined, name: string): void {
  if (first?.text.trimStart().startsWith('['))
    throw new ManifestError(name, 'is a JSON array; write one object a line instead (jq -c ".[]" does it)', {
      line: first.line,
    });
}

function* toRecords(lines: readonly TextLine[]): Generator<RawRecord> {
  for (const line of lines) yield toRecord(line);
}

function toRecord({ text, line }: TextLine): RawRecord {
  const parsed = parseJson(text);
  if ('problem' in parsed) return broken({ text, line }, `${parsed.problem}; write one object a line`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return broken({ text, line }, `is no JSON object, but ${quoteValue(value)}`);
  const names = Object.keys(value);
  const wrong = names.find((name) => name === '' || name === '__proto__');
  return wrong === undefined
    ? { line, names, values: Object.values(value) }
    : broken({ text, line }, `has a key ${quoteValue(wrong)}; rename it`);
}

function broken({ text, line }: TextLine, message: string): RawRecord {
  return { line, names: [], values: [text], problem: { message } };
}
