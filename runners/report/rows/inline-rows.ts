import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import type { PageRow } from '../page-data.js';
import { readWhole } from './picture-files.js';
import { embedJson } from '../messages/escape-html.js';

/**
 * The rows and their thumbnails as blocks of one page; `undefined` when the thumbnails are too heavy. A thumbnail stands
 * once, however many rows show it: the rows name it as `#place`.
 */
export async function inlineRows(
  disk: Disk,
  folder: string,
  rows: readonly PageRow[],
  maxBytes: number,
): Promise<string[] | undefined> {
  const places = new Map<string, number>();
  const placeOf = new Map<string, number>();
  const thumbs: string[] = [];
  let bytes = 0;
  for (const path of new Set(rows.flatMap(thumbsOf))) {
    if (!path.startsWith('thumbnails/')) continue;
    const picture = await readWhole(disk, join(folder, ...path.split('/').map(decodeURIComponent)));
    if (picture === undefined) continue;
    const text = `data:image/webp;base64,${Buffer.from(picture).toString('base64')}`;
    const same = placeOf.get(text) ?? thumbs.push(text) - 1;
    if (!placeOf.has(text)) bytes += text.length;
    if (bytes > maxBytes) return undefined;
    placeOf.set(text, same);
    places.set(path, same);
  }
  return [
    block(
      'row-data',
      rows.map((row) => withPlaces(row, places)),
    ),
    block('thumb-data', thumbs),
  ];
}

function thumbsOf(row: PageRow): string[] {
  return [row.picture, ...row.references, ...(row.earlier ?? [])].flatMap((picture) => picture?.thumb ?? []);
}

function withPlaces(row: PageRow, places: ReadonlyMap<string, number>): PageRow {
  const placed = <T extends { readonly thumb?: string }>(picture: T): T => {
    const place = picture.thumb === undefined ? undefined : places.get(picture.thumb);
    return place === undefined ? picture : { ...picture, thumb: `#${place}` };
  };
  return {
    ...row,
    references: row.references.map(placed),
    ...(row.picture === undefined ? {} : { picture: placed(row.picture) }),
    ...(row.earlier === undefined ? {} : { earlier: row.earlier.map(placed) }),
  };
}

function block(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${embedJson(value)}</script>\n`;
}
