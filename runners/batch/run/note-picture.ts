import { imageEditDefaults } from '../../../src/contract/image-edit.js';
import type { PictureFile } from '../artifacts/save-picture.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import type { SavedImage } from '../journal/record.js';
import type { Run } from './run.js';
import type { RowFacts } from './task.js';

/** What follows from a saved picture: a thumbnail, a word where its format is not the one that was asked for. */
export async function notePicture(
  run: Run,
  row: RowFacts,
  file: PictureFile,
  image: SavedImage,
): Promise<void> {
  const { disk, out, makeThumbnail } = run.options;
  await writeThumbnail(disk, out, file, makeThumbnail);
  const asked = askedFormat(row);
  if (asked !== undefined && asked !== file.format) warnOnce(run, row, asked, file.format);
  run.events.next({ type: 'saved', id: row.id, image });
}

function askedFormat({ request }: RowFacts): string | undefined {
  return request.kind === 'edit'
    ? (request.input.output_format ?? imageEditDefaults.output_format)
    : undefined;
}

function warnOnce(run: Run, row: RowFacts, asked: string, format: string): void {
  const pair = `${asked} ${format}`;
  if (run.formatsTold.has(pair)) return;
  run.formatsTold.add(pair);
  const message = `Row "${row.id}" asked for ${asked}, and the picture is ${format}: it is saved as what it is. Others like it are not told of.`;
  run.events.next({ type: 'warning', code: 'format', message });
}
