import type { Sharp } from 'sharp';
import { drawCaption } from './draw-caption.js';
import type { SharpModule } from './load-sharp.js';
import type { Arrangement, EditName, Geometry, PromptEdit } from './read-prompt.js';
import { type Raster, fromRaster, toRaster } from './raster.js';

/** Changes the look of the composed canvas. `scale` is 1 at 1k, 2 at 2k, 4 at 4k, so that an edit looks the same at each. */
export async function applyEdit(
  sharp: SharpModule,
  canvas: Raster,
  edit: PromptEdit,
  scale: number,
): Promise<Raster> {
  if (edit.name === 'posterize') return posterize(canvas, edit.amount ?? 4);
  if (edit.name === 'pixelate') return pixelate(sharp, canvas, (edit.amount ?? 16) * scale);
  if (!isLook(edit.name)) return canvas;
  return toRaster(looks[edit.name](fromRaster(sharp, canvas), edit, scale, canvas));
}

/** One step of sharp's. */
type DrawLook = (chain: Sharp, edit: PromptEdit, scale: number, canvas: Raster) => Sharp;
type Look = Exclude<EditName, Geometry | Arrangement | 'posterize' | 'pixelate'>;

const looks: Record<Look, DrawLook> = {
  grayscale: (chain) =>
    chain.recomb(rows([0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722])),
  sepia: (chain) =>
    chain.recomb(rows([0.37, 0.52, 0.15], [0.31, 0.45, 0.13], [0.22, 0.33, 0.1])).linear(1, 8),
  invert: (chain) => chain.negate({ alpha: false }),
  warm: (chain) => chain.linear([1.1, 1.02, 0.86], [4, 0, -4]),
  cool: (chain) => chain.linear([0.86, 1, 1.1], [-4, 0, 4]),
  blur: (chain, { amount = 6 }, scale) => chain.blur(clamp(amount * scale, 0.3, 1_000)),
  sharpen: (chain, { amount = 2 }, scale) =>
    chain.sharpen({ sigma: clamp(amount * scale, 0.1, 10), m1: 1, m2: 4 }),
  brighten: (chain, { amount = 25 }) => chain.linear(1 + clamp(amount, 0, 400) / 100, 0),
  darken: (chain, { amount = 25 }) => chain.linear(1 - clamp(amount, 0, 100) / 100, 0),
  contrast: (chain, { amount = 30 }) => steepen(chain, 1 + clamp(amount, -100, 400) / 100),
  saturate: (chain, { amount = 60 }) => chain.modulate({ saturation: 1 + clamp(amount, 0, 900) / 100 }),
  hue: (chain, { amount = 90 }) => chain.modulate({ hue: ((Math.round(amount) % 360) + 360) % 360 }),
  tint: (chain, { colour = '#fb8c00' }) => chain.tint(colour),
  vignette: (chain, _edit, _scale, canvas) => chain.composite([{ input: vignette(canvas) }]),
  border: (chain, edit, scale, canvas) => border(chain, edit, scale, canvas),
  caption: (chain, { text = '' }, _scale, canvas) => chain.composite([drawCaption(text, canvas)]),
};

function isLook(name: EditName): name is Look {
  return Object.hasOwn(looks, name);
}

type Row = [number, number, number];

function rows(red: Row, green: Row, blue: Row): [Row, Row, Row] {
  return [red, green, blue];
}

function steepen(chain: Sharp, slope: number): Sharp {
  return chain.linear(slope, 128 * (1 - slope));
}

function vignette({ width, height }: Raster): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><radialGradient id="v" r="0.75"><stop offset="0.55" stop-opacity="0"/><stop offset="1" stop-opacity="0.75"/></radialGradient></defs><rect width="100%" height="100%" fill="url(#v)"/></svg>`,
  );
}

/** Inside the canvas, which keeps its size. */
function border(
  chain: Sharp,
  { amount = 24, colour = '#ffffff' }: PromptEdit,
  scale: number,
  canvas: Raster,
): Sharp {
  const widest = Math.floor((Math.min(canvas.width, canvas.height) - 2) / 2);
  const edge = Math.round(clamp(amount * scale, 1, widest));
  return chain
    .resize(canvas.width - 2 * edge, canvas.height - 2 * edge, { fit: 'cover' })
    .extend({ top: edge, bottom: edge, left: edge, right: edge, background: colour });
}

function posterize(canvas: Raster, levels: number): Raster {
  const steps = Math.round(clamp(levels, 2, 64)) - 1;
  const table = Uint8Array.from({ length: 256 }, (_, value) =>
    Math.round((Math.round((value / 255) * steps) / steps) * 255),
  );
  return { ...canvas, data: Buffer.from(canvas.data.map((value) => table[value] ?? value)) };
}

async function pixelate(sharp: SharpModule, canvas: Raster, block: number): Promise<Raster> {
  const { width, height } = canvas;
  const columns = Math.max(1, Math.round(width / Math.max(2, block)));
  const small = fromRaster(sharp, canvas).resize(
    columns,
    Math.max(1, Math.round((columns * height) / width)),
    { fit: 'fill' },
  );
  return toRaster(
    fromRaster(sharp, await toRaster(small)).resize(width, height, { fit: 'fill', kernel: 'nearest' }),
  );
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
