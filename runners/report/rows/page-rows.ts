import type { Disk } from '../../batch/disk/disk.js';
import type { EarlierPicture, PageRow } from '../page-data.js';
import type { PictureShelf } from '../pictures/picture-shelf.js';
import { isObject, type JsonObject } from '../read/read-jsonl.js';
import { imagesOf, rowOfFailure, rowOfResult } from './row-of-line.js';
import { openPlaces, type PlaceReader } from '../read/read-places.js';
import { earlierFile } from '../survey/index-earlier.js';
import type { Survey } from '../survey/survey-run.js';
import type { RowPlace } from '../survey/survey-rows.js';
import { earlierPicture } from './earlier-picture.js';

const batchRows = 250;

/** The rows of a run as the gallery shows them, in the order of the manifest, some hundred at a time. */
export async function* pageRows(
  disk: Disk,
  { folder, rows: { places }, earlier }: Survey,
  shelf: PictureShelf,
): AsyncGenerator<PageRow[], void, void> {
  const reader = await openPlaces(disk, folder, ['results.jsonl', 'failures.jsonl', earlierFile]);
  try {
    for (let from = 0; from < places.length; from += batchRows) {
      const batch = places.slice(from, from + batchRows);
      const lines = await reader.read(batch);
      yield await Promise.all(
        batch.map((place, index) => pageRow(place, lines[index] ?? {}, shelf, { reader, index: earlier })),
      );
    }
  } finally {
    await reader.close();
  }
}

interface Earlier {
  readonly reader: PlaceReader;
  readonly index: Survey['earlier'];
}

async function pageRow(
  place: RowPlace,
  line: JsonObject,
  shelf: PictureShelf,
  earlier: Earlier,
): Promise<PageRow> {
  const bare = place.file === 'results.jsonl' ? rowOfResult(line) : rowOfFailure(line);
  const references = await Promise.all(imagesOf(sentOf(line)).map((name) => shelf.reference(name)));
  const picture = await shelf.result(line['image']);
  const before = await earlierOf(bare.id, shelf, earlier);
  return {
    ...bare,
    references,
    ...(picture === undefined ? {} : { picture }),
    ...(before.length === 0 ? {} : { earlier: before }),
  };
}

/** A result says what was sent; a failure has the row's own columns at top level. */
function sentOf(line: JsonObject): JsonObject {
  const request = isObject(line['request']) ? line['request'] : undefined;
  return request === undefined ? line : isObject(request['input']) ? request['input'] : request;
}

async function earlierOf(
  id: string,
  shelf: PictureShelf,
  { reader, index }: Earlier,
): Promise<EarlierPicture[]> {
  const places = index.get(id);
  if (places === undefined) return [];
  const lines = (await reader.read(places)).filter((line) => line !== undefined);
  const pictures = await Promise.all(lines.map((line) => earlierPicture(line, shelf)));
  return pictures.filter((picture) => picture !== undefined).reverse();
}
