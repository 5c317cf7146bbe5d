import type { Size } from './canvas-size.js';
import type { SharpModule } from './load-sharp.js';
import { type Raster, fromRaster, toRaster } from './raster.js';

/** Scales a picture until it fills a place, and crops what stands out evenly. */
export function fillBox(sharp: SharpModule, picture: Raster, { width, height }: Size): Promise<Raster> {
  return toRaster(fromRaster(sharp, picture).resize(width, height, { fit: 'cover' }));
}
