import { lineKinds, numberRuns, type LineFacts, type PageReference } from '../page-data.js';
import { ObjectScanner } from '../read/object-scanner.js';
import type { PageRowReader, PlacedLine } from './page-rows.js';
import { remoteReference } from './picture-facts.js';
import { imagesOf, manifestImage } from './row-of-line.js';
import { embedJson } from '../messages/escape-html.js';
import type { RunPictures } from './run-pictures.js';

/** A longer line is shortened before it goes to the page. */
const longestLine = 16_000;

const scanned = { path: 0, sha256: 1, images: 2, cells: 3 } as const;
const paths = [['image', 'path'], ['image', 'sha256'], ['request', 'input', 'images'], ['images']];

/**
 * Rows as the content of a script that hands them to the page: their lines, byte by byte, within a text. Nothing is parsed but what
 * only the disk can say of a row: which of its pictures lie on it.
 */
export class LineFiles {
  readonly #scanner = new ObjectScanner(paths);

  constructor(
    private readonly reader: PageRowReader,
    private readonly shelf: RunPictures,
    private readonly isLocal: boolean,
  ) {}

  /** @param call The function that takes the rows, with its opening bracket and its first values. */
  async content(call: string, from: number, to: number): Promise<(string | Uint8Array)[]> {
    const lines = await this.reader.readLines(from, to);
    const kinds: string[] = [];
    const thumbs: (string | null)[] = [];
    const references = new Map<string, PageReference>();
    const parts: Buffer[] = [];
    for (const line of lines) {
      const { file, again } = line.place;
      const isMade = again || line.bytes.length > longestLine || line.bytes.length === 0;
      kinds.push(isMade ? lineKinds.made : file === 'results.jsonl' ? lineKinds.result : lineKinds.failure);
      parts.push(isMade ? Buffer.from(JSON.stringify(await this.reader.rowOf(line))) : line.bytes, newline);
      thumbs.push(isMade ? null : this.#thumbnailOf(line));
      if (!isMade && (line.place.namesFiles || this.shelf.mayHaveCopies))
        await this.#noteReferences(line, references);
    }
    const facts: LineFacts = {
      kinds: kinds.join(''),
      numbers: numberRuns(lines.map(({ place }) => place.row)),
      ...(thumbs.some((thumb) => thumb !== null) && { thumbs }),
      references: [...references],
    };
    return [
      `${call}${embedJson(JSON.stringify(facts))},String.raw\``,
      asTemplate(Buffer.concat(parts)),
      '`)\n',
    ];
  }

  #thumbnailOf({ place, bytes }: PlacedLine): string | null {
    if (!place.isSaved) return null;
    if (!this.shelf.hasThumbnails) {
      this.shelf.plain++;
      return null;
    }
    this.#scanner.scan(bytes, 0, bytes.length);
    const path = this.#scanner.text(scanned.path) ?? '';
    return this.shelf.thumbnail(path, this.#scanner.text(scanned.sha256)) ?? null;
  }

  async #noteReferences({ place, bytes }: PlacedLine, known: Map<string, PageReference>): Promise<void> {
    this.#scanner.scan(bytes, 0, bytes.length);
    const images = this.#scanner.raw(place.file === 'results.jsonl' ? scanned.images : scanned.cells);
    if (images === '') return;
    for (const image of imagesOf({ images: JSON.parse(images) as unknown })) {
      const name = manifestImage(image, this.isLocal);
      if (known.has(name) || (remoteReference(name) !== undefined && !this.shelf.mayHaveCopies)) continue;
      const reference = await this.shelf.reference(name);
      if (reference.path !== undefined || reference.thumb !== undefined) known.set(name, reference);
    }
  }
}

const newline = Buffer.from('\n');
const carriageReturn = 0x0d;

/**
 * Lines of JSON as the content of `String.raw`, which takes every byte as it is but for these: what would end the text or begin
 * code in it stands only inside JSON's strings, where it is written as an escape; a carriage return is white space there.
 */
function asTemplate(lines: Buffer): Buffer {
  if (!lines.includes('`') && !lines.includes('${') && !lines.includes(carriageReturn)) return lines;
  const text = lines.toString().replaceAll('`', '\\u0060').replaceAll('${', '\\u0024{').replaceAll('\r', ' ');
  return Buffer.from(text);
}
