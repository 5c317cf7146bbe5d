import { imageEditDefaults } from '../../../src/contract/image-edit.js';
import type { PictureFile } from '../artifacts/save-picture.js';
import type { SavedImage } from '../journal/record.js';
import type { Run } from '../context/run.js';
import type { RowFacts } from '../row/task.js';

/** Tells of a saved picture, and where its format is not the one that was asked for. */
export function notePicture(run: Run, row: RowFacts, file: PictureFile, image: SavedImage): void {
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
  if (run.picturesTold.has(pair)) return;
  run.picturesTold.add(pair);
  const message = `Row "${row.id}" asked for ${asked}, and the picture is ${format}: it is saved as what it is. Others like it are not told of.`;
  run.events.next({ type: 'warning', code: 'format', message });
}
