import { stringify } from 'csv-stringify/sync';
import { errorText } from '../../../src/contract/millrace-error.js';
import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../journal/record.js';

/**
 * One line of a CSV file with its newline. An absent value is an empty cell; objects and lists are JSON. Text that looks like a
 * formula to a spreadsheet is escaped.
 */
export function csvLine(cells: readonly unknown[]): string {
  const texts: (string | number)[] = [];
  let isPlainLine = cells.length > 1;
  for (const cell of cells) {
    const text = typeof cell === 'string' || typeof cell === 'number' ? cell : asText(cell);
    // Whether a cell can be written as it is: it needs no quotes and is not a formula.
    isPlainLine &&= typeof text === 'number' ? text >= 0 : text === '' || /^[a-z0-9][\w./:-]*$/i.test(text);
    texts.push(text);
  }
  // This path is for nearly all lines; the general one takes twenty times as long.
  if (isPlainLine) return `${texts.join(',')}\n`;
  return stringify([texts], { escape_formulas: true, record_delimiter: '\n' });
}

function asText(cell: unknown): string {
  return cell === undefined || cell === null ? '' : typeof cell === 'boolean' ? String(cell) : jsonCell(cell);
}

/** A value that is nested too deep for `JSON.stringify` gets the reason as its text. */
function jsonCell(cell: unknown): string {
  try {
    return JSON.stringify(cell);
  } catch (cause) {
    return unwritable(cause);
  }
}

const quote = 0x22;
const newline = Buffer.from('\n');

/** Joins lines of a CSV file into records: a quoted cell may contain line breaks. */
export async function* joinQuoted(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = [];
  for await (const line of lines) {
    const isCut = isInQuotes(line) !== open.length > 0;
    if (isCut) open.push(line, newline);
    else {
      yield open.length > 0 ? Buffer.concat([...open, line]) : line;
      open = [];
    }
  }
}

/** Whether the line has an odd number of quotes: then it opens a quoted cell, or closes the one that an earlier line opened. */
function isInQuotes(line: Buffer): boolean {
  let count = 0;
  for (let at = line.indexOf(quote); at >= 0; at = line.indexOf(quote, at + 1)) count++;
  return count % 2 === 1;
}

/**
 * A line as JSON. An output that is nested too deep for the stack is replaced by the reason: the journal has the output, and
 * one line must not block the others.
 */
export function lineJson(line: object): string {
  try {
    return JSON.stringify(line);
  } catch (cause) {
    return JSON.stringify({ ...line, output: unwritable(cause) });
  }
}

/** The text that replaces a value which cannot be written. */
export function unwritable(cause: unknown): string {
  return `(this value cannot be written as JSON: ${errorText(cause)})`;
}

/** What the texts of a value come to; beyond the first thousand values it is not looked further. */
export function roughBytes(value: unknown): number {
  const values: unknown[] = [value];
  let bytes = 0;
  for (let at = 0; at < values.length; at++) {
    const one = values[at];
    if (typeof one === 'string') bytes += one.length;
    else if (typeof one === 'object' && one !== null && values.length < mostValues) {
      const parts = Object.values(one);
      bytes += 8 * parts.length;
      for (const part of parts.slice(0, mostValues)) values.push(part);
    }
  }
  return bytes;
}

const mostValues = 1_000;

const opening = Buffer.from('{"id":"');

/** The id of a line of results.jsonl or failures.jsonl, without parsing the rest of it. */
export function lineId(line: Buffer): string {
  if (!line.subarray(0, opening.length).equals(opening)) {
    const { id } = JSON.parse(line.toString()) as { id: string };
    return id;
  }
  let end = opening.length;
  while (end < line.length && line[end] !== 0x22) end += line[end] === 0x5c ? 2 : 1;
  return JSON.parse(line.toString('utf8', opening.length - 1, end + 1)) as string;
}

/** The journal's records of a row that has ended; its lines are made from them. */
export interface EndedRow {
  /** Missing if nothing was ever sent or polled: an invalid row, or one held from the start. */
  readonly intent?: IntentRecord | undefined;
  /** Present on a completed row. */
  readonly reply?: ReplyRecord | undefined;
  readonly outcome: OutcomeRecord;
}

/** A time in ms since the epoch as ISO text; `undefined` stays `undefined`. */
export function isoTime(at: number): string;
export function isoTime(at: number | undefined): string | undefined;
export function isoTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
