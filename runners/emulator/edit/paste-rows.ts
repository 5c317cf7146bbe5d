import type { Size } from './canvas-size.js';
import { fillBox } from './fill-box.js';
import type { Box } from './layout.js';
import type { SharpModule } from './load-sharp.js';
import { layer, type Raster, toRaster } from './raster.js';

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
