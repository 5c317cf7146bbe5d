import type { OverlayOptions, Sharp } from 'sharp';
import type { SharpModule } from './load-sharp.js';

/** A picture between two steps: three bytes a pixel, no alpha. */
export interface Raster extends Size {
  data: Buffer;
}

/** The result of a sharp chain as a raster; transparent parts become white. */
export async function toRaster(chain: Sharp): Promise<Raster> {
  const flat = chain.flatten({ background: '#ffffff' }).toColourspace('srgb').removeAlpha();
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

export function fromRaster(sharp: SharpModule, { data, width, height }: Raster): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

export function layer({ data, width, height }: Raster, left: number, top: number): OverlayOptions {
  return { input: data, raw: { width, height, channels: 3 }, left, top };
}

/** Scales a picture until it fills a box, and crops both overhanging sides equally. */
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

/** A place for a picture on the canvas, in pixels. */
export interface Box extends Size {
  left: number;
  top: number;
}

/** The pictures of each row, by index, and the ratio of the canvas at which none is cropped. */
interface Rows {
  rows: number[][];
  ratio: number;
}

/** Puts pictures into as many rows as come closest to the ratio, in their order, the shorter rows on top. */
export function chooseRows(ratios: readonly number[], asked: number, rowCount?: number): Rows {
  const counts = rowCount === undefined ? ratios.map((_, index) => index + 1) : [rowCount];
  const choices = counts.map((count) => splitRows(ratios, count));
  const off = ({ ratio }: Rows): number => Math.abs(Math.log(ratio / asked));
  return choices.reduce((best, choice) => (off(choice) < off(best) ? choice : best));
}

function splitRows(ratios: readonly number[], count: number): Rows {
  const bounds = Array.from({ length: count + 1 }, (_, row) => Math.floor((row * ratios.length) / count));
  const rows = bounds.slice(1).map((end, row) => range(bounds[row] ?? 0, end));
  const heights = rows.map((row) => 1 / widthOf(row, ratios));
  return { rows, ratio: 1 / heights.reduce((sum, height) => sum + height, 0) };
}

/** Boxes in the order of the pictures, with a gutter between them and around; rows keep their proportions. */
export function placeRows({ rows }: Rows, ratios: readonly number[], canvas: Size, gutter: number): Box[] {
  const heights = rows.map((row) => 1 / widthOf(row, ratios));
  const lines = cut(canvas.height, heights, gutter);
  return rows.flatMap((row, at) => {
    const { start: top, length: height } = lines[at] ?? { start: 0, length: 0 };
    return cut(
      canvas.width,
      row.map((index) => ratios[index] ?? 1),
      gutter,
    ).map(({ start, length }) => ({
      left: start,
      top,
      width: length,
      height,
    }));
  });
}

/** Cuts a length into parts of these shares, in whole pixels, with gutters before, between and after. */
function cut(length: number, shares: readonly number[], gutter: number): { start: number; length: number }[] {
  const sum = shares.reduce((total, share) => total + share, 0);
  const free = length - gutter * (shares.length + 1);
  let before = 0;
  return shares.map((share, index) => {
    const from = Math.round((before / sum) * free);
    before += share;
    const to = Math.round((before / sum) * free);
    return { start: from + gutter * (index + 1), length: Math.max(1, to - from) };
  });
}

function widthOf(row: readonly number[], ratios: readonly number[]): number {
  return row.reduce((sum, index) => sum + (ratios[index] ?? 1), 0);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
