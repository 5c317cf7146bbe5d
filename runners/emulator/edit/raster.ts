import type { OverlayOptions, Sharp } from 'sharp';
import type { Size } from './canvas-size.js';
import type { SharpModule } from './load-sharp.js';

/** A picture between two steps: three bytes a pixel, no alpha. */
export interface Raster extends Size {
  data: Buffer;
}

/** Ends a chain of sharp's in a raster; transparent parts become white. */
export async function toRaster(chain: Sharp): Promise<Raster> {
  const flat = chain.flatten({ background: '#ffffff' }).toColourspace('srgb').removeAlpha();
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Begins a chain of sharp's with a raster. */
export function fromRaster(sharp: SharpModule, { data, width, height }: Raster): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** A raster as something that sharp lays over another. */
export function layer({ data, width, height }: Raster, left: number, top: number): OverlayOptions {
  return { input: data, raw: { width, height, channels: 3 }, left, top };
}

/** Scales a picture until it fills a place, and crops what stands out evenly. */
export function fillBox(sharp: SharpModule, picture: Raster, { width, height }: Size): Promise<Raster> {
  return toRaster(fromRaster(sharp, picture).resize(width, height, { fit: 'cover' }));
}
