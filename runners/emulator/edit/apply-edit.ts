import type { Sharp } from 'sharp';
import type { SharpModule } from './load-sharp.js';
import type { Arrangement, EditName, Geometry, PromptEdit } from './read-prompt.js';
import { type Raster, fromRaster, toRaster, type Size } from './raster.js';
import { strokeGlyphs, strokeAccents } from './stroke-glyphs.js';

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

type DrawLook = (chain: Sharp, edit: PromptEdit, scale: number, canvas: Raster) => Sharp;
type Look = Exclude<EditName, Geometry | Arrangement | 'posterize' | 'pixelate'>;

const looks: Record<Look, DrawLook> = {
  grayscale: (chain) =>
    chain.recomb([
      [0.2126, 0.7152, 0.0722],
      [0.2126, 0.7152, 0.0722],
      [0.2126, 0.7152, 0.0722],
    ]),
  sepia: (chain) =>
    chain
      .recomb([
        [0.37, 0.52, 0.15],
        [0.31, 0.45, 0.13],
        [0.22, 0.33, 0.1],
      ])
      .linear(1, 8),
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

function steepen(chain: Sharp, slope: number): Sharp {
  return chain.linear(slope, 128 * (1 - slope));
}

function vignette({ width, height }: Raster): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><radialGradient id="v" r="0.75"><stop offset="0.55" stop-opacity="0"/><stop offset="1" stop-opacity="0.75"/></radialGradient></defs><rect width="100%" height="100%" fill="url(#v)"/></svg>`,
  );
}

/** Draws inside the canvas, which keeps its size. */
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

/** A dark band along the lower edge with the text in it, as a layer over a canvas. */
function drawCaption(text: string, { width, height }: Size): { input: Buffer; left: number; top: number } {
  const line = text.replace(/[\u0000-\u001f\s]+/g, ' ').trim();
  const band = Math.ceil(Math.min(height / 3, Math.max(width, height) / 11));
  const letters = drawStrokes(line, width, band) ?? drawFont(line, width, band);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${band}"><rect width="100%" height="100%" fill="#101018" fill-opacity="0.64"/>${letters}</svg>`;
  return { input: Buffer.from(svg), left: 0, top: height - band };
}

/** The height of a capital as a part of the band, and the widest line as a part of the canvas. */
const capital = 0.34;
const widest = 0.92;

function drawStrokes(line: string, width: number, band: number): string | undefined {
  const strokes = strokeText(line);
  if (strokes === undefined) return undefined;
  const scale = Math.min((band * capital) / 100, (width * widest) / Math.max(1, strokes.width));
  const x = (width - strokes.width * scale) / 2;
  const y = band / 2 + 46 * scale;
  return `<g transform="translate(${x} ${y}) scale(${scale})" fill="none" stroke="#fff" stroke-width="11" stroke-linecap="round" stroke-linejoin="round">${strokes.paths}</g>`;
}

/** A font of the machine, if it has one, for scripts without built-in strokes. */
function drawFont(line: string, width: number, band: number): string {
  const size = Math.min((band * capital) / 0.72, (width * widest) / Math.max(1, line.length * 0.62));
  return `<text x="50%" y="${band / 2 + size * 0.34}" font-family="sans-serif" font-size="${size}" fill="#fff" text-anchor="middle">${escaped(line)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** A line of text as SVG paths. */
interface StrokeText {
  /** In the units of the glyphs, of which a capital has 100. */
  width: number;
  /** SVG elements; the first stroke begins at x = 0 and the baseline is y = 0. */
  paths: string;
}

const spacing = 24;
const capitalLift = 24;

/** Writes a line with the built-in strokes; `undefined` when it holds a character that they lack. */
export function strokeText(text: string): StrokeText | undefined {
  let x = 0;
  let last = { left: 0, width: 0, isTall: false };
  let paths = '';
  for (const character of text.normalize('NFD')) {
    const accent = strokeAccents[character];
    const glyph = strokeGlyphs[character];
    if (accent !== undefined) {
      const lift = last.isTall && character !== '\u0327' ? -capitalLift : 0;
      paths += moved(accent, last.left + last.width / 2, lift);
    } else if (glyph !== undefined) {
      const [width, path] = glyph;
      paths += moved(path, x, 0);
      last = { left: x, width, isTall: /[A-Z]/.test(character) };
      x += width + spacing;
    } else return undefined;
  }
  return { width: Math.max(0, x - spacing), paths };
}

function moved(path: string, x: number, y: number): string {
  return path === '' ? '' : `<path transform="translate(${x} ${y})" d="${path}"/>`;
}
