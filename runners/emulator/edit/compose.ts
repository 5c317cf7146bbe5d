import { blendPictures, insetPictures, pasteRows } from './combine-pictures.js';
import { canvasSize, longEdge, parseRatio, fillBox, fromRaster, type Raster, toRaster } from './raster.js';
import { BadEdit, type EditRequest } from './read-edit-request.js';
import { chooseRows, placeRows } from './layout.js';
import type { SharpModule } from './load-sharp.js';
import type { EditName, PromptEdit } from './read-prompt.js';

/** Without a ratio, rows are chosen so that the sheet comes close to this one. */
const usualRatio = 3 / 2;
const maxPixels = 120_000_000;
/** A reference is first scaled down to this multiple of the result's long edge, which bounds memory. */
const detail = 1.5;

/**
 * Combines the reference pictures into one canvas of the asked size: in tidy rows with little cropping, or as the prompt says.
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

/** Keeps a result from being very narrow where the request asks for no ratio. */
function withinReason(ratio: number): number {
  return Math.min(4, Math.max(1 / 4, ratio));
}

/** Rotates, flips and mirrors a reference picture as the prompt says, in its order. */
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
