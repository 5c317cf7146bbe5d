import type { Size } from './canvas-size.js';
import { canvasSize, parseRatio } from './canvas-size.js';
import { BadEdit } from './bad-edit.js';
import type { EditRequest } from './edit-request.js';
import { type Box, chooseRows, placeRows } from './layout.js';
import type { SharpModule } from './load-sharp.js';
import type { PromptEdit } from './prompt-edit.js';
import { type Raster, fromRaster, toRaster } from './raster.js';
import { turnPicture } from './turn-picture.js';

/** Without a ratio, several pictures are put together so that the result comes close to this one. */
const usualRatio = 3 / 2;
const paper = '#f7f5f0';

/** Combines the reference pictures into one canvas of the asked size: rows without much cropping, or as the prompt names it. */
export async function compose(
  sharp: SharpModule,
  references: readonly Buffer[],
  request: EditRequest,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  const pictures = await Promise.all(
    references.map((bytes, index) => open(sharp, bytes, request.images[index] ?? '', edits)),
  );
  const ratios = pictures.map(({ width, height }) => width / height);
  const [first] = pictures;
  if (first === undefined) throw new BadEdit('input.images: must have 1 to 14 entries');
  const asked = request.aspect_ratio === undefined ? undefined : parseRatio(request.aspect_ratio);
  const named = (name: string): boolean => edits.some((edit) => edit.name === name);
  const overFirst = pictures.length > 1 && (named('blend') ? blend : named('inset') ? inset : undefined);
  if (pictures.length === 1 || overFirst) {
    const canvas = canvasSize(request.resolution, asked ?? limited(ratios[0] ?? 1));
    return overFirst ? overFirst(sharp, pictures, canvas) : fill(sharp, first, canvas);
  }
  const rowCount = named('side-by-side') ? 1 : named('stack') ? pictures.length : undefined;
  const rows = chooseRows(ratios, asked ?? usualRatio, rowCount);
  const canvas = canvasSize(request.resolution, asked ?? limited(rows.ratio));
  const gutter = Math.round(Math.max(canvas.width, canvas.height) / 100);
  return paste(sharp, pictures, placeRows(rows, ratios, canvas, gutter), canvas);
}

async function open(
  sharp: SharpModule,
  bytes: Buffer,
  url: string,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  try {
    const upright = await toRaster(sharp(bytes, { limitInputPixels: 120_000_000 }).autoOrient());
    return await turnPicture(sharp, upright, edits);
  } catch (error) {
    throw new BadEdit(`invalid image URL ${url.slice(0, 300)}: ${(error as Error).message}`);
  }
}

/** Nothing becomes a mere line. */
function limited(ratio: number): number {
  return Math.min(4, Math.max(1 / 4, ratio));
}

function fill(sharp: SharpModule, picture: Raster, { width, height }: Size): Promise<Raster> {
  return toRaster(fromRaster(sharp, picture).resize(width, height, { fit: 'cover' }));
}

async function paste(
  sharp: SharpModule,
  pictures: readonly Raster[],
  boxes: readonly Box[],
  canvas: Size,
): Promise<Raster> {
  const layers = await Promise.all(
    boxes.map(async (box, index) => {
      const { data, width, height } = await fill(sharp, pictures[index] as Raster, box);
      return { input: data, raw: { width, height, channels: 3 as const }, left: box.left, top: box.top };
    }),
  );
  const sheet = sharp({ create: { ...canvas, channels: 3, background: paper } });
  return toRaster(sheet.composite(layers));
}

/** Each picture shines through with the same strength. */
async function blend(sharp: SharpModule, pictures: readonly Raster[], canvas: Size): Promise<Raster> {
  const layers = await Promise.all(pictures.map((picture) => fill(sharp, picture, canvas)));
  const data = Buffer.alloc(canvas.width * canvas.height * 3);
  for (let at = 0; at < data.length; at += 1) {
    let sum = 0;
    for (const layer of layers) sum += layer.data[at] ?? 0;
    data[at] = Math.round(sum / layers.length);
  }
  return { data, ...canvas };
}

/** The first picture, and the others small along its lower edge. */
async function inset(sharp: SharpModule, pictures: readonly Raster[], canvas: Size): Promise<Raster> {
  const [first, ...others] = pictures as [Raster, ...Raster[]];
  const base = await fill(sharp, first, canvas);
  const margin = Math.round(Math.min(canvas.width, canvas.height) / 24);
  const width = Math.floor(Math.min(canvas.width * 0.3, (canvas.width - margin) / others.length - margin));
  const frame = Math.max(2, Math.round(canvas.width / 256));
  const layers = await Promise.all(
    others.map(async (picture, index) => {
      const height = Math.round(Math.min(canvas.height * 0.4, width / (picture.width / picture.height)));
      const small = await fill(sharp, picture, {
        width: width - 2 * frame,
        height: Math.max(8, height - 2 * frame),
      });
      const edge = { top: frame, bottom: frame, left: frame, right: frame, background: '#ffffff' };
      const framed = await toRaster(fromRaster(sharp, small).extend(edge));
      const left = canvas.width - (index + 1) * (width + margin);
      const top = canvas.height - margin - framed.height;
      return {
        input: framed.data,
        raw: { width: framed.width, height: framed.height, channels: 3 as const },
        left,
        top,
      };
    }),
  );
  return toRaster(fromRaster(sharp, base).composite(layers));
}
