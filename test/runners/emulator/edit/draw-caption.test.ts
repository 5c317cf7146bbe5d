import { describe, expect, it } from 'vitest';
import { strokeText } from '../../../../runners/emulator/edit/draw-caption.js';

describe('strokeText', () => {
  it('knows every printable ASCII character of a caption, and Latin letters with marks', () => {
    const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index)).replace(
      /[\\^`{}~]/g,
      '',
    );
    expect(strokeText(printable)?.width).toBeGreaterThan(3_000);
    expect(strokeText('Grüße aus Ålesund, ça va? “ñ” – 5 €…')).toBeDefined();
  });

  it('puts marks upon their letters without moving on', () => {
    expect(strokeText('é')?.width).toBe(strokeText('e')?.width);
    expect(
      [strokeText('é')!.paths, strokeText('É')!.paths].map((paths) => /translate\(\d+ -24\)/.test(paths)),
    ).toEqual([false, true]);
  });

  it('adds up widths, with no gap at the end', () => {
    const [one, two] = [strokeText('n')!.width, strokeText('nn')!.width];
    expect(two - 2 * one).toBe(24);
    expect(strokeText('')).toEqual({ width: 0, paths: '' });
  });

  it.each(['日本', 'Привет', '🌊'])('has no strokes for %s', (text) => {
    expect(strokeText(text)).toBeUndefined();
  });
});
