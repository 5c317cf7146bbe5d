import { type Size, fillBox, fromRaster, layer, type Raster, toRaster } from './raster.js';
import type { SharpModule } from './load-sharp.js';
import type { Box } from './layout.js';

/** Lays the pictures over one another; each shines through with the same strength. */
export async function blendPictures(
  sharp: SharpModule,
  pictures: readonly Raster[],
  canvas: Size,
): Promise<Raster> {
  const layers = await Promise.all(pictures.map((picture) => fillBox(sharp, picture, canvas)));
  const data = Buffer.alloc(canvas.width * canvas.height * 3);
  for (let at = 0; at < data.length; at += 1) {
    let sum = 0;
    for (const layer of layers) sum += layer.data[at] ?? 0;
    data[at] = Math.round(sum / layers.length);
  }
  return { data, ...canvas };
}

/** The first picture fills the canvas; the others stand small and framed along its lower edge, from the right. */
export async function insetPictures(
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

/** What shows between the pictures. */
const paper = '#f7f5f0';

/** Puts each picture into its box on a sheet. */
export async function pasteRows(
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
