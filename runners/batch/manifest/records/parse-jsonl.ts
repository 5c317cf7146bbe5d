import split2 from 'split2';
import { ManifestError } from '../manifest-error.js';
import { quoteValue } from '../quote-value.js';
import { parseJson } from '../rows/parse-json.js';
import { feed } from './feed.js';
import { joinLongLines } from './join-long-lines.js';
import { maxRecordBytes, type RawRecord } from './raw-record.js';

/** JSON lines → rows. Blank lines are no rows. Throws `ManifestError` where a line is too long. */
export async function* parseJsonl(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<RawRecord[]> {
  let line = 0;
  let rows = 0;
  let batch: RawRecord[] = [];
  const splitter = split2(
    /\r\n|\n|\r/,
    (text: string) => {
      line++;
      if (isBlank(text)) return;
      batch.push(toRecord(text, line));
      if (++rows === 1) refuseArray(text, line, name);
    },
    { maxLength: maxRecordBytes },
  );
  const take = (): RawRecord[] => {
    const taken = batch;
    batch = [];
    return taken;
  };
  try {
    yield* feed(joinLongLines(chunks, maxRecordBytes), splitter, take);
  } catch (error) {
    if (error instanceof Error && error.message === 'maximum buffer reached')
      throw new ManifestError(name, 'the line is longer than 10 MB', { line: line + 1, cause: error });
    throw error;
  }
  if (rows === 0) throw new ManifestError(name, 'is empty: it holds no rows, only blank lines');
}

/** Nothing but what JSON takes for white space. */
function isBlank(text: string): boolean {
  return text === '' || /^[ \t]*$/.test(text);
}

function toRecord(text: string, line: number): RawRecord {
  const parsed = parseJson(text);
  if ('problem' in parsed) return broken(line, `${parsed.problem}; write one object a line`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return broken(line, `is no JSON object, but ${quoteValue(value)}`);
  const names = Object.keys(value);
  const wrong = names.find((name) => name === '' || name === '__proto__');
  return wrong === undefined
    ? { line, names, values: Object.values(value) }
    : broken(line, `has a key ${quoteValue(wrong)}; rename it`);
}

function broken(line: number, message: string): RawRecord {
  return { line, names: [], values: [], problem: { message } };
}

/** A whole file that is one JSON array would give an error a line. */
function refuseArray(text: string, line: number, name: string): void {
  if (text.trimStart().startsWith('['))
    throw new ManifestError(name, 'is a JSON array; write one object a line instead (jq -c ".[]" does it)', {
      line,
    });
}
