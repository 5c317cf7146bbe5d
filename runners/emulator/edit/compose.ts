import {
  canvasSize,
  longEdge,
  parseRatio,
  fillBox,
  fromRaster,
  type Raster,
  toRaster,
  type Size,
  layer,
  chooseRows,
  placeRows,
  type Box,
} from './raster.js';
import { BadEdit, type EditRequest } from './read-edit-request.js';
import type { SharpModule } from './load-sharp.js';
import type { EditName, PromptEdit } from './read-prompt.js';

/** The ratio of the sheet when the request has none. */
const usualRatio = 3 / 2;
const maxPixels = 120_000_000;
/** A reference is first scaled down to this multiple of the result's long edge, which bounds memory. */
const detail = 1.5;

/**
 * Combines the reference pictures on one canvas of the requested size: in tidy rows with little cropping, or as the prompt
 * says.
 * @throws BadEdit for a picture that cannot be read
 */
export async function compose(
  sharp: SharpModule,
  references: readonly Buffer[],
  request: EditRequest,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  const [first, ...others] = await Promise.all(
    references.map((bytes, index) => openPicture(sharp, bytes, request, index, edits)),
  );
  if (first === undefined) throw new BadEdit('input.images: must have 1 to 14 entries');
  const asked = request.aspect_ratio === undefined ? undefined : parseRatio(request.aspect_ratio);
  const isNamed = (name: EditName): boolean => edits.some((edit) => edit.name === name);
  const own = canvasSize(request.resolution, asked ?? withinReason(first.width / first.height));
  if (others.length === 0) return fillBox(sharp, first, own);
  if (isNamed('blend')) return blendPictures(sharp, [first, ...others], own);
  if (isNamed('inset')) return insetPictures(sharp, [first, ...others], own);
  const rowCount = isNamed('side-by-side') ? 1 : isNamed('stack') ? references.length : undefined;
  return sheet(sharp, [first, ...others], { resolution: request.resolution, asked, rowCount });
}

async function openPicture(
  sharp: SharpModule,
  bytes: Buffer,
  request: EditRequest,
  index: number,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  try {
    const upright = sharp(bytes, { limitInputPixels: maxPixels }).autoOrient();
    const edge = longEdge[request.resolution] * detail;
    const picture = upright.resize(edge, edge, { fit: 'inside', withoutEnlargement: true });
    return await turnPicture(sharp, await toRaster(picture), edits);
  } catch (error) {
    const url = (request.images[index] ?? '').slice(0, 300);
    throw new BadEdit(`invalid image URL ${url}: ${(error as Error).message}`);
  }
}

function sheet(
  sharp: SharpModule,
  pictures: readonly Raster[],
  wish: { resolution: EditRequest['resolution']; asked: number | undefined; rowCount: number | undefined },
): Promise<Raster> {
  const ratios = pictures.map(({ width, height }) => width / height);
  const rows = chooseRows(ratios, wish.asked ?? usualRatio, wish.rowCount);
  const canvas = canvasSize(wish.resolution, wish.asked ?? withinReason(rows.ratio));
  const gutter = Math.round(Math.min(canvas.width, canvas.height) / 70);
  return pasteRows(sharp, pictures, placeRows(rows, ratios, canvas, gutter), canvas);
}

/** Limits how narrow a result can be when the request has no ratio. */
function withinReason(ratio: number): number {
  return Math.min(4, Math.max(1 / 4, ratio));
}

/** Rotates, flips and mirrors a reference picture in the order of the prompt. */
export async function turnPicture(
  sharp: SharpModule,
  picture: Raster,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  let turned = picture;
  for (const { name, amount = 0 } of edits) {
    if (name === 'rotate')
      turned = await toRaster(fromRaster(sharp, turned).rotate(amount % 360, { background: '#ffffff' }));
    else if (name === 'flip') turned = await toRaster(fromRaster(sharp, turned).flip());
    else if (name === 'mirror') turned = await toRaster(fromRaster(sharp, turned).flop());
  }
  return turned;
}

/** Lays the pictures over one another; each shines through with the same strength. */
async function blendPictures(sharp: SharpModule, pictures: readonly Raster[], canvas: Size): Promise<Raster> {
  const layers = await Promise.all(pictures.map((picture) => fillBox(sharp, picture, canvas)));
  const data = Buffer.alloc(canvas.width * canvas.height * 3);
  for (let at = 0; at < data.length; at += 1) {
    let sum = 0;
    for (const layer of layers) sum += layer.data[at] ?? 0;
    data[at] = Math.round(sum / layers.length);
  }
  return { data, ...canvas };
}

/** The first picture fills the canvas; the others are placed along its lower edge, small and framed, from the right. */
async function insetPictures(
  sharp: SharpModule,
  [first, ...others]: readonly [Raster, ...Raster[]],
  canvas: Size,
): Promise<Raster> {
  const base = await fillBox(sharp, first, canvas);
  const margin = Math.round(Math.min(canvas.width, canvas.height) / 24);
  const frame = Math.max(1, Math.round(canvas.width / 256));
  const room = (canvas.width - margin) / others.length - margin;
  const width = Math.max(4 * frame, Math.floor(Math.min(canvas.width * 0.3, room)));
  const layers = await Promise.all(
    others.map(async (picture, index) => {
      const natural = Math.round((width * picture.height) / picture.width);
      const height = Math.max(4 * frame, Math.min(Math.round(canvas.height * 0.4), natural));
      const framed = await frameIn(sharp, picture, { width, height }, frame);
      const left = Math.max(0, canvas.width - (index + 1) * (width + margin));
      return layer(framed, left, Math.max(0, canvas.height - margin - height));
    }),
  );
  return toRaster(fromRaster(sharp, base).composite(layers));
}

async function frameIn(
  sharp: SharpModule,
  picture: Raster,
  { width, height }: Size,
  edge: number,
): Promise<Raster> {
  const small = await fillBox(sharp, picture, { width: width - 2 * edge, height: height - 2 * edge });
  const sides = { top: edge, bottom: edge, left: edge, right: edge };
  return toRaster(fromRaster(sharp, small).extend({ ...sides, background: '#ffffff' }));
}

/** The colour between the pictures. */
const paper = '#f7f5f0';

/** Puts each picture into its box on a sheet. */
async function pasteRows(
  sharp: SharpModule,
  pictures: readonly Raster[],
  boxes: readonly Box[],
  canvas: Size,
): Promise<Raster> {
  const layers = await Promise.all(
    pictures.map(async (picture, index) => {
      const box = boxes[index] ?? { left: 0, top: 0, ...canvas };
      return layer(await fillBox(sharp, picture, box), box.left, box.top);
    }),
  );
  const sheet = sharp({ create: { ...canvas, channels: 3, background: paper } });
  return toRaster(sheet.composite(layers));
}
