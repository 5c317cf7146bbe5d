import { imageEditDefaults } from '../../../src/contract/image-edit.js';
import type { PictureFile } from '../artifacts/save-picture.js';
import type { SavedImage } from '../journal/record.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { RowFacts } from '../row/task.js';

/** Reports a saved picture, and warns once of a format that is not the one that was asked for. */
export function notePicture(
  context: PurchaseContext,
  row: RowFacts,
  file: PictureFile,
  image: SavedImage,
): void {
  const asked = askedFormat(row);
  if (asked !== undefined && asked !== file.format) warnOnce(context, row, asked, file.format);
  context.events.next({ type: 'saved', id: row.id, image });
}

function askedFormat({ request }: RowFacts): string | undefined {
  return request.kind === 'edit'
    ? (request.input.output_format ?? imageEditDefaults.output_format)
    : undefined;
}

function warnOnce(context: PurchaseContext, row: RowFacts, asked: string, format: string): void {
  const pair = `${asked} ${format}`;
  if (context.pictures.warned.has(pair)) return;
  context.pictures.warned.add(pair);
  const message = `Row "${row.id}" asked for ${asked}, and the picture is ${format}: it is saved as what it is. Others like it are not reported.`;
  context.events.next({ type: 'warning', code: 'format', message });
}

/** Warns, once a start, of an edit that is paid for and came without a picture: it completed, and nothing was to be saved. */
export function noteNoPicture({ pictures, events }: PurchaseContext, { id, request }: RowFacts): void {
  if (request.kind !== 'edit' || pictures.warned.has('none')) return;
  pictures.warned.add('none');
  const message = `Row "${id}" completed, and no picture is in its reply: what came stands as "output" in results.jsonl. Others like it are not reported.`;
  events.next({ type: 'warning', code: 'picture', message });
}
