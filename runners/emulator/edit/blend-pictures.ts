import type { Size } from './canvas-size.js';
import { fillBox } from './fill-box.js';
import type { SharpModule } from './load-sharp.js';
import type { Raster } from './raster.js';

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
