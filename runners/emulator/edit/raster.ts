import type { OverlayOptions, Sharp } from 'sharp';
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

/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The longer edge of a result in pixels. */
export const longEdge = { '1k': 1_024, '2k': 2_048, '4k': 4_096 } as const;

const shortestEdge = 16;

/** The size of a result at a resolution and a ratio of width to height. */
export function canvasSize(resolution: keyof typeof longEdge, ratio: number): Size {
  const long = longEdge[resolution];
  const short = Math.max(shortestEdge, Math.round(ratio >= 1 ? long / ratio : long * ratio));
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

/** `16:9` → 1.777… */
export function parseRatio(text: string): number {
  const [width = Number.NaN, height = Number.NaN] = text.split(':').map(Number);
  return width / height;
}
