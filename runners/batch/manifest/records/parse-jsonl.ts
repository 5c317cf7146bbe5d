import { ManifestError } from '../manifest-error.js';
import { parseJson } from '../parse-json.js';
import { quoteValue } from '../quote-value.js';
import { maxRecordBytes, type RawRecord } from './raw-record.js';

export interface TextLine {
  /** 1-based; blank lines count. */
  readonly line: number;
  readonly text: string;
}

/** The rows of JSON lines. Each line is kept as text and parsed when it is pulled. Blank lines are not rows. */
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

/** Refuses a file that is one JSON array with one message, instead of an error for every line. */
function refuseArray(first: TextLine | undefined, name: string): void {
  if (first?.text.trimStart().startsWith('['))
    throw new ManifestError(name, 'is a JSON array; write one object a line instead (jq -c ".[]" does it)', {
      line: first.line,
    });
}

function* toRecords(lines: readonly TextLine[]): Generator<RawRecord> {
  for (const line of lines) yield recordOf(line);
}

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
    return brokenRecord({ text, line }, `is not a JSON object, but ${quoteValue(value)}`);
  const names = Object.keys(value);
  const wrong = names.includes('') ? '' : names.includes('__proto__') ? '__proto__' : undefined;
  if (wrong !== undefined) return brokenRecord({ text, line }, `has a key ${quoteValue(wrong)}; rename it`);
  return { line, names, values: Object.values(value) };
}

export function brokenRecord({ text, line }: TextLine, message: string, column?: string): RawRecord {
  return { line, names: [], values: [text], problem: { ...(column !== undefined && { column }), message } };
}

/** White space as JSON defines it. */
const blank = /^[ \t]*$/;

/** The lines of a text that are not blank, in one batch for each chunk. Throws `ManifestError` if a line is too long. */
async function* splitLines(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<TextLine[]> {
  let line = 0;
  /** The parts of a line that goes on in the next chunk: a line of megabytes is joined once. */
  let open: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.toString('utf8').split(/\r\n|\n|\r/);
    open.push(first);
    length += first.length;
    const batch: TextLine[] = [];
    for (const next of others) {
      line++;
      const text = open.length === 1 ? (open[0] ?? '') : open.join('');
      if (!blank.test(text)) batch.push({ line, text });
      open = [next];
      length = next.length;
    }
    if (batch.length > 0) yield batch;
    if (length > maxRecordBytes)
      throw new ManifestError(name, 'the line is longer than 10 MB', { line: line + 1 });
  }
  const text = open.join('');
  if (!blank.test(text)) yield [{ line: line + 1, text }];
}
