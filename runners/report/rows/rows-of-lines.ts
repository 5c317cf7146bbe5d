import { isPlainObject } from '../../../src/contract/bounded-json.js';
import {
  lineKinds,
  type LineFacts,
  type PagePicture,
  type PageReference,
  type PageRow,
} from '../page-data.js';
import { parseObject } from '../read/json-object.js';
import {
  leftAtItsUrl,
  pathAddress,
  remoteReference,
  savedPath,
  savedPicture,
  shownName,
} from './picture-facts.js';
import { rowOfLine } from './row-of-line.js';

/** The rows of a file by their place in it. A line is parsed when its row is first needed. */
export interface RowsOfFile {
  readonly count: number;
  at(place: number): PageRow | undefined;
}

/**
 * The rows of a file of lines, for the browser.
 *
 * @param text The lines, each with its line break.
 * @param isLocal Whether the run was a rehearsal with the embedded emulator.
 */
export function rowsOfLines(facts: LineFacts, text: string, isLocal: boolean): RowsOfFile {
  const lines = text.split('\n');
  const references = new Map(facts.references);
  const numbers = facts.numbers.flatMap(([first, count]) =>
    Array.from({ length: count }, (_, place) => first + place),
  );
  const read = (place: number): PageRow => {
    const kind = facts.kinds[place];
    const line = parseObject(lines[place] ?? '') ?? {};
    if (kind === lineKinds.made) return line as unknown as PageRow;
    const { row, images, image } = rowOfLine(line, kind === lineKinds.result, isLocal);
    const picture = pictureOf(image, facts.thumbs?.[place] ?? undefined);
    return {
      ...row,
      row: numbers[place] ?? row.row,
      references: images.map((name) => referenceOf(name, references)),
      ...(picture === undefined ? {} : { picture }),
    };
  };
  const rows: PageRow[] = [];
  const count = facts.kinds.length;
  return { count, at: (place) => (place < count ? (rows[place] ??= read(place)) : undefined) };
}

function referenceOf(name: string, files: ReadonlyMap<string, PageReference>): PageReference {
  return files.get(name) ?? remoteReference(name) ?? { name: shownName(name) };
}

/** The picture; without a thumbnail it is shown itself. */
function pictureOf(image: unknown, thumb: string | undefined): PagePicture | undefined {
  const path = savedPath(image);
  if (!isPlainObject(image)) return undefined;
  if (path === undefined) return leftAtItsUrl(image);
  const address = pathAddress(path);
  return savedPicture(image, { path: address, thumb: thumb ?? address });
}
