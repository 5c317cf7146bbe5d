import { strokeGlyphs, strokeMarks } from './stroke-glyphs.js';

/** A line of text as SVG paths. */
export interface StrokeText {
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
    const mark = strokeMarks[character];
    const glyph = strokeGlyphs[character];
    if (mark !== undefined) {
      const lift = last.isTall && character !== '\u0327' ? -capitalLift : 0;
      paths += moved(mark, last.left + last.width / 2, lift);
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
