import type { Size } from './raster.js';
import { strokeGlyphs, strokeAccents } from './stroke-glyphs.js';

/** A dark band along the lower edge with the text in it, as a layer over a canvas. */
export function drawCaption(
  text: string,
  { width, height }: Size,
): { input: Buffer; left: number; top: number } {
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

/** For scripts that have no strokes: a font of the machine's, if it has one. */
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
