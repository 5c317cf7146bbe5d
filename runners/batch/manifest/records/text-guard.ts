import { isUtf8 } from 'node:buffer';
import { ManifestError } from '../manifest-error.js';

const headBytes = 4;
const utf8Bom = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Passes only UTF-8 text without NUL, and counts its lines. The text that it returns never ends inside a character or
 * between `\r` and `\n`. A byte order mark is removed.
 */
export class TextGuard {
  /** The line of the next byte, from 1. */
  line = 1;
  /** The number of characters of that line so far. */
  #passed = 0;
  readonly #name: string;
  #held: Buffer = Buffer.alloc(0);
  #started = false;

  constructor(name: string) {
    this.#name = name;
  }

  accept(chunk: Uint8Array): Buffer {
    const bytes = this.#held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#held, chunk]);
    if (!this.#started && bytes.length < headBytes) return this.#hold(bytes, 0);
    const text = this.#withoutBom(bytes);
    return this.#pass(text, endOfWholeText(text));
  }

  finish(): Buffer {
    const text = this.#withoutBom(this.#held);
    return this.#pass(text, text.length);
  }

  #withoutBom(bytes: Buffer): Buffer {
    if (this.#started) return bytes;
    this.#started = true;
    const foreign = foreignFormat(bytes);
    if (foreign !== undefined) throw new ManifestError(this.#name, foreign, { line: 1 });
    return bytes.subarray(0, 3).equals(utf8Bom) ? bytes.subarray(3) : bytes;
  }

  #pass(bytes: Buffer, end: number): Buffer {
    const text = bytes.subarray(0, end);
    if (!isUtf8(text) || text.includes(0)) throw this.#broken(text);
    this.#count(text);
    this.#hold(bytes, end);
    return text;
  }

  #count(text: Buffer): void {
    const breaks = countLineBreaks(text);
    const tail = Math.max(text.lastIndexOf(10), text.lastIndexOf(13)) + 1;
    this.line += breaks;
    this.#passed = (breaks === 0 ? this.#passed : 0) + countCharacters(text, tail);
  }

  /** Keeps a copy, because the source may reuse its chunk. */
  #hold(bytes: Buffer, from: number): Buffer {
    this.#held = Buffer.from(bytes.subarray(from));
    return bytes.subarray(0, 0);
  }

  #broken(bytes: Buffer): ManifestError {
    const text = bytes.toString('utf8');
    const at = text.search(isUtf8(bytes) ? /\0/ : /\0|\ufffd/);
    const before = text.slice(0, at).split(/\r\n|\r|\n/);
    const problem =
      text[at] === '\0'
        ? 'a NUL byte: the file is damaged or no text'
        : 'a byte that is not UTF-8; save the file as UTF-8 (in spreadsheets: "CSV UTF-8")';
    const column =
      countCharacters(Buffer.from(before.at(-1) ?? ''), 0) + (before.length === 1 ? this.#passed : 0) + 1;
    return new ManifestError(this.#name, problem, {
      line: this.line + before.length - 1,
      column,
      columnLabel: `character ${column}`,
    });
  }
}

/** Counts the bytes that begin a character. */
function countCharacters(text: Buffer, from: number): number {
  let characters = 0;
  for (let at = from; at < text.length; at++) if (((text[at] ?? 0) & 0xc0) !== 0x80) characters++;
  return characters;
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** The end of the text without an incomplete last character, and without a last `\r` that a `\n` may follow. */
function endOfWholeText(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > 0 && bytes.length - lead < 4 && ((bytes[lead] ?? 0) & 0xc0) === 0x80) lead--;
  const first = bytes[lead] ?? 0;
  if (first === 13) return lead;
  const wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return bytes.length - lead < wanted ? lead : bytes.length;
}

/** The advice on how to save a spreadsheet. */
export const saveAsCsv =
  'save it as CSV in UTF-8 (Excel: File > Save As > "CSV UTF-8"; LibreOffice: File > Save As > "Text CSV", Unicode (UTF-8); Numbers: File > Export To > CSV)';

/** The advice for text that was garbled before it was saved. */
export const saveAgain = `open where it comes from as UTF-8 (Excel: Data > From Text/CSV), and ${saveAsCsv}`;

const formats: readonly { readonly begins: readonly number[]; readonly problem: string }[] = [
  { begins: [0xff, 0xfe], problem: `is UTF-16 (in Excel: "Unicode Text"); ${saveAsCsv}` },
  { begins: [0xfe, 0xff], problem: `is UTF-16 (in Excel: "Unicode Text"); ${saveAsCsv}` },
  { begins: [0, 0, 0xfe, 0xff], problem: 'is UTF-32; save it as UTF-8' },
  { begins: [0x1f, 0x8b], problem: 'is packed with gzip; give it a name that ends in .gz' },
  {
    begins: [0x50, 0x4b, 3, 4],
    problem: `is a spreadsheet (.xlsx, .ods, .numbers) or another zip archive; ${saveAsCsv}`,
  },
  { begins: [0xd0, 0xcf, 0x11, 0xe0], problem: `is a spreadsheet (.xls); ${saveAsCsv}` },
];

/** The format of a file by its first bytes, and the remedy. `undefined` if it may be UTF-8 text. */
function foreignFormat(head: Uint8Array): string | undefined {
  const format = formats.find(({ begins }) => begins.every((byte, at) => head[at] === byte));
  if (format !== undefined) return format.problem;
  const [first, second] = head;
  const everySecondIsNul = head.length >= 2 && (first === 0) !== (second === 0);
  return everySecondIsNul ? `looks like UTF-16; ${saveAsCsv}` : undefined;
}

const lineFeed = 10;
const carriageReturn = 13;

/** Counts line breaks: `\n`, `\r\n` and a lone `\r` are one each. */
export function countLineBreaks(bytes: Uint8Array): number {
  let breaks = 0;
  let at = bytes.indexOf(lineFeed);
  while (at !== -1) {
    breaks++;
    at = bytes.indexOf(lineFeed, at + 1);
  }
  return breaks + countLoneReturns(bytes);
}

function countLoneReturns(bytes: Uint8Array): number {
  let returns = 0;
  let at = bytes.indexOf(carriageReturn);
  while (at !== -1) {
    if (bytes[at + 1] !== lineFeed) returns++;
    at = bytes.indexOf(carriageReturn, at + 1);
  }
  return returns;
}
