import { lineKinds, numberRuns, type LineFacts, type PageReference } from '../page-data.js';
import { objectIn, parseObject, textOr, type JsonObject } from '../read/json-object.js';
import { Room } from '../read/read-places.js';
import type { PageRowReader, PlacedLine } from './page-rows.js';
import { remoteReference } from './picture-facts.js';
import { imagesOfLine } from './row-of-line.js';
import { embedJson } from '../messages/escape-html.js';
import type { RunPictures } from './run-pictures.js';

/** A longer line is shortened before it goes to the page. */
const longestLine = 16_000;

/**
 * Rows as the content of a script that passes them to the page: their unchanged lines inside a text. A line is parsed
 * only for its thumbnail, or to find which of its references are on this disk.
 */
export class LineFiles {
  readonly #lines = new Room();

  constructor(
    private readonly reader: PageRowReader,
    private readonly shelf: RunPictures,
    private readonly isLocal: boolean,
  ) {}

  /**
   * The parts of a file.
   *
   * @param call The function that receives the rows, with its opening bracket and first arguments.
   * @param room Memory for the parts.
   */
  async content(call: string, from: number, to: number, room: Room): Promise<Uint8Array[]> {
    this.#lines.clear();
    const lines = await this.reader.readLines(from, to, this.#lines);
    const kinds: string[] = [];
    const thumbs: (string | null)[] = [];
    const references = new Map<string, PageReference>();
    const made = await this.reader.rowsOf(lines.filter(isMade));
    const parts: Uint8Array[] = [];
    for (const line of lines) {
      const row = made.get(line);
      const isResult = line.place.file === 'results.jsonl';
      kinds.push(row !== undefined ? lineKinds.made : isResult ? lineKinds.result : lineKinds.failure);
      parts.push(row === undefined ? line.bytes : Buffer.from(JSON.stringify(row)));
      const value = row === undefined && this.#isRead(line) ? parseObject(line.bytes.toString()) : undefined;
      const thumb = line.place.isSaved && row === undefined ? this.#thumbnailOf(value) : undefined;
      thumbs.push(thumb ?? null);
      if (value !== undefined) await this.#noteReferences(value, isResult, references);
    }
    const facts: LineFacts = {
      kinds: kinds.join(''),
      numbers: numberRuns(lines.map(({ place }) => place.row)),
      ...(thumbs.some((thumb) => thumb !== null) && { thumbs }),
      references: [...references],
    };
    return templateOf(Buffer.from(`${call}${embedJson(JSON.stringify(facts))},String.raw\``), parts, room);
  }

  #isRead({ place }: PlacedLine): boolean {
    const { hasThumbnails, mayHaveCopies } = this.shelf;
    return place.namesFiles || mayHaveCopies || (place.isSaved && hasThumbnails);
  }

  #thumbnailOf(line: JsonObject = {}): string | undefined {
    const image = objectIn(line, 'image');
    return this.shelf.thumbnail(textOr(image['path']), image['sha256']);
  }

  /** Notes which of the line's references are on this disk. */
  async #noteReferences(
    line: JsonObject,
    isResult: boolean,
    known: Map<string, PageReference>,
  ): Promise<void> {
    for (const name of imagesOfLine(line, isResult, this.isLocal)) {
      if (known.has(name) || (remoteReference(name) !== undefined && !this.shelf.mayHaveCopies)) continue;
      const reference = await this.shelf.reference(name);
      if (reference.path !== undefined || reference.thumb !== undefined) known.set(name, reference);
    }
  }
}

/** Whether the page cannot create the row from its line. */
function isMade({ place, bytes }: PlacedLine): boolean {
  return place.again || place.toGo || bytes.length > longestLine || bytes.length === 0;
}

const [newline, carriageReturn, backtick, dollar] = [0x0a, 0x0d, 0x60, 0x24];

const tail = Buffer.from('`)\n');

/**
 * Lines of JSON as the content of a `String.raw` template, which leaves most bytes unchanged. Characters that would end the
 * template or begin code in it occur only in JSON strings, where an escape can replace them; a carriage return is only white
 * space.
 */
function templateOf(head: Buffer, lines: readonly Uint8Array[], room: Room): Uint8Array[] {
  const whole = joined(head, lines, room);
  const text = whole.subarray(head.length, whole.length - tail.length);
  // Searching for one byte takes a tenth of the time of searching for two.
  const mayBeginCode = text.includes(dollar) && text.includes('${');
  if (!mayBeginCode && !text.includes(backtick) && !text.includes(carriageReturn)) return [whole];
  const escaped = text
    .toString()
    .replaceAll('`', '\\u0060')
    .replaceAll('${', '\\u0024{')
    .replaceAll('\r', ' ');
  return [head, Buffer.from(escaped), tail];
}

/** Head, lines with their newlines, and tail, joined so that one write is enough. */
function joined(head: Buffer, lines: readonly Uint8Array[], room: Room): Buffer {
  const length = lines.reduce((sum, line) => sum + line.length + 1, head.length + tail.length);
  const bytes = room.take(length);
  bytes.set(head);
  let at = head.length;
  for (const line of lines) {
    bytes.set(line, at);
    at += line.length;
    bytes[at++] = newline;
  }
  bytes.set(tail, at);
  return bytes;
}
