import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { applyEdit, strokeText } from '../../../../runners/emulator/edit/apply-edit.js';
import type { PromptEdit } from '../../../../runners/emulator/edit/read-prompt.js';
import { type Raster, toRaster } from '../../../../runners/emulator/edit/raster.js';
import { turnPicture } from '../../../../runners/emulator/edit/compose.js';

let canvas: Raster;

/** A field of many colours: red grows to the right, green downwards; a blue square in the upper left, a dark one in the lower right. */
beforeAll(async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><defs><linearGradient id="r"><stop offset="0" stop-color="#200000"/><stop offset="1" stop-color="#d02020"/></linearGradient><linearGradient id="g" x2="0" y2="1"><stop offset="0" stop-color="#000" stop-opacity="0"/><stop offset="1" stop-color="#00b040" stop-opacity=".7"/></linearGradient></defs><rect width="300" height="200" fill="url(#r)"/><rect width="300" height="200" fill="url(#g)"/><rect x="10" y="10" width="60" height="60" fill="#2040e0"/><rect x="240" y="150" width="40" height="40" fill="#101010"/></svg>`;
  canvas = await toRaster(sharp(Buffer.from(svg)));
});

const after = (edit: PromptEdit, scale = 1) => applyEdit(sharp, canvas, edit, scale);
const statsOf = ({ data, width, height }: Raster) =>
  sharp(data, { raw: { width, height, channels: 3 } }).stats();
const meanOf = async (raster: Raster) => {
  const { channels } = await statsOf(raster);
  return channels.reduce((sum, { mean }) => sum + mean, 0) / 3;
};
const spreadOf = async (raster: Raster) => {
  const { channels } = await statsOf(raster);
  return channels.reduce((sum, { stdev }) => sum + stdev, 0) / 3;
};
const pixel = ({ data, width }: Raster, x: number, y: number) => [
  ...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
];

describe('applyEdit', () => {
  it('grayscale: the channels are equal everywhere', async () => {
    const { data } = await after({ name: 'grayscale' });
    for (let at = 0; at < data.length; at += 3)
      expect(
        Math.max(data[at]!, data[at + 1]!, data[at + 2]!) - Math.min(data[at]!, data[at + 1]!, data[at + 2]!),
      ).toBeLessThan(2);
  });

  it('sepia: red over green over blue everywhere', async () => {
    const [red, green, blue] = (await statsOf(await after({ name: 'sepia' }))).channels.map(
      ({ mean }) => mean,
    );
    expect(red).toBeGreaterThan(green!);
    expect(green).toBeGreaterThan(blue!);
  });

  it('invert: every byte is its complement', async () => {
    const { data } = await after({ name: 'invert' });
    expect(data.every((value, at) => value === 255 - canvas.data[at]!)).toBe(true);
  });

  it('warm and cool: red and blue move against one another', async () => {
    const balance = async (raster: Raster) => {
      const [red, , blue] = (await statsOf(raster)).channels;
      return red!.mean - blue!.mean;
    };
    expect(await balance(await after({ name: 'warm' }))).toBeGreaterThan(await balance(canvas));
    expect(await balance(await after({ name: 'cool' }))).toBeLessThan(await balance(canvas));
  });

  it('blur: edges vanish, the more the stronger, the same at each resolution', async () => {
    const edge = (raster: Raster) => Math.abs(pixel(raster, 8, 40)[2]! - pixel(raster, 13, 40)[2]!);
    const [weak, strong, scaled] = [
      await after({ name: 'blur', amount: 2 }),
      await after({ name: 'blur', amount: 8 }),
      await after({ name: 'blur', amount: 2 }, 4),
    ];
    expect(edge(weak)).toBeLessThan(edge(canvas));
    expect(edge(strong)).toBeLessThan(edge(weak));
    expect(edge(scaled)).toBe(edge(strong));
  });

  it('sharpen: edges stand out', async () => {
    expect((await statsOf(await after({ name: 'sharpen', amount: 2 }))).sharpness).toBeGreaterThan(
      (await statsOf(canvas)).sharpness,
    );
  });

  it('brighten and darken: by the per cent', async () => {
    expect(
      (await meanOf(await after({ name: 'brighten', amount: 20 }))) / (await meanOf(canvas)),
    ).toBeCloseTo(1.2, 1);
    expect((await meanOf(await after({ name: 'darken', amount: 50 }))) / (await meanOf(canvas))).toBeCloseTo(
      0.5,
      1,
    );
    expect(await meanOf(await after({ name: 'darken', amount: 100 }))).toBe(0);
  });

  it('contrast: wider or narrower', async () => {
    expect(await spreadOf(await after({ name: 'contrast', amount: 30 }))).toBeGreaterThan(
      await spreadOf(canvas),
    );
    expect(await spreadOf(await after({ name: 'contrast', amount: -50 }))).toBeLessThan(
      (await spreadOf(canvas)) * 0.6,
    );
  });

  it('saturate: colours further from gray', async () => {
    const distance = (raster: Raster) => {
      const [red = 0, green = 0, blue = 0] = pixel(raster, 150, 5);
      return Math.max(red, green, blue) - Math.min(red, green, blue);
    };
    expect(distance(await after({ name: 'saturate', amount: 60 }))).toBeGreaterThan(distance(canvas));
  });

  it('hue: blue becomes another colour', async () => {
    const [red = 0, , blue = 0] = pixel(await after({ name: 'hue', amount: 120 }), 40, 40);
    expect(red).toBeGreaterThan(blue);
  });

  it('tint: towards the colour', async () => {
    const [red, , blue] = (await statsOf(await after({ name: 'tint', colour: '#1e88e5' }))).channels;
    expect(blue!.mean).toBeGreaterThan(red!.mean);
  });

  it('pixelate: squares of one colour', async () => {
    const raster = await after({ name: 'pixelate', amount: 50 });
    expect(new Set(Array.from({ length: 50 }, (_, x) => pixel(raster, x, 100).join()))).toHaveProperty(
      'size',
      1,
    );
    expect(pixel(raster, 49, 100)).not.toEqual(pixel(raster, 51, 100));
  });

  it('posterize: so many levels', async () => {
    expect(new Set((await after({ name: 'posterize', amount: 3 })).data)).toEqual(new Set([0, 128, 255]));
  });

  it('vignette: dark corners, the middle as it was', async () => {
    const raster = await after({ name: 'vignette' });
    expect(pixel(raster, 150, 100)).toEqual(pixel(canvas, 150, 100));
    expect(pixel(raster, 299, 0)[0]).toBeLessThan(pixel(canvas, 299, 0)[0]! * 0.5);
  });

  it('border: of the colour, inside the size', async () => {
    const raster = await after({ name: 'border', amount: 10, colour: '#d4af37' });
    expect([raster.width, raster.height]).toEqual([300, 200]);
    for (const [x, y] of [
      [0, 0],
      [299, 199],
      [9, 100],
      [150, 190],
    ] as const)
      expect(pixel(raster, x, y)).toEqual([0xd4, 0xaf, 0x37]);
    expect(pixel(raster, 10, 100)).not.toEqual([0xd4, 0xaf, 0x37]);
    expect((await after({ name: 'border', amount: 5_000 })).width).toBe(300);
  });

  it.each(['Hello', 'Grüße', '日本', '<&>"', ''])(
    'caption %j: a dark band below, white in it for letters it can draw',
    async (text) => {
      const raster = await after({ name: 'caption', text });
      expect(pixel(raster, 5, 100)).toEqual(pixel(canvas, 5, 100));
      expect(pixel(raster, 2, 198)[0]!).toBeLessThan(90);
      const band = raster.data.subarray(200 * 300 * 3 - 28 * 300 * 3);
      const white = band.filter((value) => value > 240).length;
      if (/[a-z]/.test(text)) expect(white).toBeGreaterThan(20);
      if (text === '') expect(white).toBe(0);
    },
  );

  it('leaves what is no look alone', async () => {
    expect(await after({ name: 'rotate', amount: 90 })).toBe(canvas);
    expect(await after({ name: 'side-by-side' })).toBe(canvas);
  });
});

describe('turnPicture', () => {
  it('rotates, flips and mirrors in the order of the prompt', async () => {
    const turned = await turnPicture(sharp, canvas, [{ name: 'rotate', amount: 90 }]);
    expect([turned.width, turned.height]).toEqual([200, 300]);
    expect(pixel(turned, 199 - 40, 40)).toEqual(pixel(canvas, 40, 40));
    const flipped = await turnPicture(sharp, canvas, [{ name: 'flip' }]);
    expect(pixel(flipped, 40, 159)).toEqual(pixel(canvas, 40, 40));
    const mirrored = await turnPicture(sharp, canvas, [{ name: 'mirror' }]);
    expect(pixel(mirrored, 259, 40)).toEqual(pixel(canvas, 40, 40));
    const both = await turnPicture(sharp, canvas, [{ name: 'rotate', amount: -90 }, { name: 'mirror' }]);
    expect(pixel(both, 199 - 40, 299 - 40)).toEqual(pixel(canvas, 40, 40));
    const askew = await turnPicture(sharp, canvas, [{ name: 'rotate', amount: 30 }]);
    expect(askew.width).toBeGreaterThan(300);
    expect(pixel(askew, 0, 0)).toEqual([255, 255, 255]);
  });
});

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
