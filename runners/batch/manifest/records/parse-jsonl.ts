import split2 from 'split2';
import { ManifestError } from '../manifest-error.js';
import { feed } from './feed.js';
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
  let batch: TextLine[] = [];
  const gather = (text: string): void => {
    line++;
    if (!blank.test(text)) batch.push({ line, text });
  };
  const take = (): TextLine[] => {
    const taken = batch;
    batch = [];
    return taken;
  };
  const splitter = split2(/\r\n|\n|\r/, gather, { maxLength: maxRecordBytes });
  try {
    yield* feed(joinLongLines(chunks, maxRecordBytes), splitter, take);
  } catch (error) {
    if (error instanceof Error && error.message === 'maximum buffer reached')
      throw new ManifestError(name, 'the line is longer than 10 MB', { line: line + 1, cause: error });
    throw error;
  }
}

/**
 * Joins chunks until one contains a line break, so that a line of megabytes is scanned only once. Joins at most `maxBytes`; the
 * reader refuses a longer line.
 */
async function* joinLongLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= maxBytes && !chunk.includes(10) && !chunk.includes(13)) continue;
    yield held.length === 1 ? chunk : Buffer.concat(held, bytes);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}
