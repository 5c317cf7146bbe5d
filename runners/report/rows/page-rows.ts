import type { Disk } from '../../batch/disk/disk.js';
import type { EarlierPicture, PageRow } from '../page-data.js';
import type { RunPictures } from './run-pictures.js';
import { objectIn, parseObject, textOr, type JsonObject } from '../read/json-object.js';
import { openPlaces, type Place, type PlaceReader, type Room } from '../read/read-places.js';
import type { RowPlace } from '../survey/row-places.js';
import { earlierFile, type Survey } from '../survey/survey-run.js';
import { rowOfLine } from './row-of-line.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';

const batchRows = 250;
const batchBytes = 8 * 1024 * 1024;

/** Reads rows of a surveyed run for the gallery. */
export class PageRowReader {
  private constructor(
    private readonly survey: Survey,
    private readonly shelf: RunPictures,
    private readonly reader: PlaceReader,
  ) {}

  static async open(disk: Disk, survey: Survey, shelf: RunPictures): Promise<PageRowReader> {
    const files = ['results.jsonl', 'failures.jsonl', earlierFile];
    return new PageRowReader(survey, shelf, await openPlaces(disk, survey.folder, files));
  }

  /** The rows from `from` to before `to`, in the order of the manifest. */
  async read(from: number, to: number): Promise<PageRow[]> {
    const places = this.survey.rows.places.slice(from, to);
    const lines = await this.reader.read(places);
    return this.#pageRows(places.map((place, index) => ({ place, line: lines[index] ?? {} })));
  }

  /** The lines of these rows as they are in the files; `room` is the memory for them. */
  async readLines(from: number, to: number, room: Room): Promise<PlacedLine[]> {
    const places = this.survey.rows.places.slice(from, to);
    const lines = await this.reader.readBytes(places, room);
    return places.map((place, index) => ({ place, bytes: lines[index] as Buffer }));
  }

  /** Converts some of these lines to rows of the gallery. */
  async rowsOf(lines: readonly PlacedLine[]): Promise<ReadonlyMap<PlacedLine, PageRow>> {
    const rows = await this.#pageRows(
      lines.map(({ place, bytes }) => ({ place, line: parseObject(bytes.toString()) ?? {} })),
    );
    return new Map(rows.map((row, index) => [lines[index] as PlacedLine, row]));
  }

  close(): Promise<void> {
    return this.reader.close();
  }

  /** Reads all their earlier pictures together. */
  async #pageRows(lines: readonly ParsedLine[]): Promise<PageRow[]> {
    if (lines.length === 0) return [];
    const { earlier, isRehearsal: isLocal } = this.survey;
    const places = lines.map(({ line }) => earlier.get(textOr(line['id'])) ?? []);
    const found = await this.reader.read(places.flat());
    let next = 0;
    const before = places.map(({ length }) => found.slice(next, (next += length)));
    const sources = { shelf: this.shelf, isLocal };
    return Promise.all(lines.map((line, index) => pageRow(line, before[index] ?? [], sources)));
  }
}

interface ParsedLine {
  readonly place: RowPlace;
  readonly line: JsonObject;
}

export interface PlacedLine {
  readonly place: RowPlace;
  readonly bytes: Buffer;
}

/** All rows of a run, read some hundred at a time. */
export async function* pageRows(
  disk: Disk,
  survey: Survey,
  shelf: RunPictures,
): AsyncGenerator<PageRow[], void, void> {
  const reader = await PageRowReader.open(disk, survey, shelf);
  const { places } = survey.rows;
  try {
    for (let [from, to] = [0, 0]; from < places.length; from = to) {
      to = from + rowsOfBatch(places.slice(from, from + batchRows));
      yield await reader.read(from, to);
    }
  } finally {
    await reader.close();
  }
}

/** At least one row, and of long lines no more than fit into memory beside all else. */
function rowsOfBatch(places: readonly Place[]): number {
  let bytes = 0;
  const isFull = ({ length }: Place, index: number) => (bytes += length) > batchBytes && index > 0;
  const full = places.findIndex(isFull);
  return full < 0 ? places.length : full;
}

/** @param superseded The row's earlier results, oldest first; `undefined` for a line that has changed since the survey. */
async function pageRow(
  { place, line }: ParsedLine,
  superseded: readonly (JsonObject | undefined)[],
  { shelf, isLocal }: { readonly shelf: RunPictures; readonly isLocal: boolean },
): Promise<PageRow> {
  const { row: bare, images, image } = rowOfLine(line, place.file === 'results.jsonl', isLocal);
  const references = images.map((name) => shelf.reference(name));
  const picture = await shelf.result(image);
  const before = await earlierPictures(superseded, shelf);
  return {
    ...bare,
    row: place.row,
    references: await Promise.all(references),
    ...(picture === undefined ? {} : { picture }),
    ...(place.toGo && { toGo: true as const }),
    ...(before.length === 0 ? {} : { earlier: before }),
  };
}

async function earlierPictures(
  lines: readonly (JsonObject | undefined)[],
  shelf: RunPictures,
): Promise<EarlierPicture[]> {
  const results = lines.filter((line) => line !== undefined);
  const pictures = await Promise.all(results.map((line) => earlierPicture(line, shelf)));
  return pictures.filter((picture) => picture !== undefined).reverse();
}

/** The picture of an earlier result; `undefined` if it had none. */
async function earlierPicture(result: JsonObject, shelf: RunPictures): Promise<EarlierPicture | undefined> {
  const picture = await shelf.result(result['image']);
  if (picture === undefined) return undefined;
  const input = objectIn(objectIn(result, 'request'), 'input');
  return {
    ...picture,
    ...(typeof input['prompt'] === 'string' ? { prompt: input['prompt'] } : {}),
    ...(typeof input['resolution'] === 'string' ? { resolution: input['resolution'] } : {}),
    ...(typeof result['cost'] === 'number' ? { cost: toMicroDollars(result['cost']) } : {}),
  };
}
