import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readLineBlocks,
  readLines,
  type ReadLinesOptions,
} from '../../../../runners/batch/disk/read-file.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';

interface Seen {
  readonly text: string;
  readonly offset: number;
  readonly ended: boolean;
}

async function linesOf(
  content: string | Uint8Array,
  options: ReadLinesOptions = {},
  seed?: number,
): Promise<Seen[]> {
  const disk = new ForgetfulDisk(seed === undefined ? {} : { shortTransfers: true, random: seeded(seed) });
  disk.plant('/file', content);
  const seen: Seen[] = [];
  for await (const { bytes, offset, ended } of readLines(await disk.open('/file', 'r'), options)) {
    seen.push({ text: bytes.toString('latin1'), offset, ended });
  }
  return seen;
}

describe('readLines', () => {
  it('gives each line with its place, the last one without a newline', async () => {
    expect(await linesOf('one\n\nthree')).toEqual([
      { text: 'one', offset: 0, ended: true },
      { text: '', offset: 4, ended: true },
      { text: 'three', offset: 5, ended: false },
    ]);
    expect(await linesOf('')).toEqual([]);
    expect(await linesOf('\n')).toEqual([{ text: '', offset: 0, ended: true }]);
  });

  it('only a newline ends a line', async () => {
    expect((await linesOf('a\rb\u2028c\r\nd')).map(({ ended }) => ended)).toEqual([true, false]);
  });

  it('agrees with a split, whatever the bytes, the chunks and the short reads', async () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x61, 0x62, 0xff, 0), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), fc.nat(), async (given, chunkBytes, seed) => {
        const content = Uint8Array.from(given);
        const parts = Buffer.from(content).toString('latin1').split('\n');
        if (parts.at(-1) === '') parts.pop();
        const seen = await linesOf(content, { chunkBytes }, seed);
        expect(seen.map(({ text }) => text)).toEqual(parts);
        expect(
          seen.every(({ text, offset }) => Buffer.from(content).toString('latin1').startsWith(text, offset)),
        ).toBe(true);
      }),
    );
  });

  it('keeps to the part that was asked for, also when the file is longer', async () => {
    expect(
      (await linesOf('one\ntwo\nthree\n', { from: 4, to: 10 })).map(({ text, ended }) => [text, ended]),
    ).toEqual([
      ['two', true],
      ['th', false],
    ]);
  });

  it('gives memory back after a long line', async () => {
    const long = 'x'.repeat(5_000);
    const sizes: number[] = [];
    const disk = new ForgetfulDisk();
    disk.plant('/file', `a\n${long}\n${'b\n'.repeat(8_000)}`);
    for await (const { bytes } of readLineBlocks(await disk.open('/file', 'r'), { chunkBytes: 64 })) {
      sizes.push(bytes.buffer.byteLength);
    }
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(5_000);
    expect(sizes.at(-1)).toBe(64);
  });

  it('takes little memory for a short file, and reads a long one in ever larger blocks', async () => {
    const disk = new ForgetfulDisk();
    const line = `${'x'.repeat(99)}\n`;
    disk.plant('/short', line);
    disk.plant('/long', line.repeat(40_000));
    const sizesOf = async (path: string): Promise<number[]> => {
      const sizes: number[] = [];
      let end = 0;
      for await (const { bytes, offset } of readLineBlocks(await disk.open(path, 'r'))) {
        expect([offset, bytes.length % 100]).toEqual([end, 0]);
        end += bytes.length;
        sizes.push(bytes.buffer.byteLength);
      }
      return [end, ...sizes];
    };
    expect(await sizesOf('/short')).toEqual([100, 1 << 14]);
    const mega = 1 << 20;
    expect(await sizesOf('/long')).toEqual([4_000_000, 1 << 14, 1 << 17, mega, mega, mega, mega]);
  });

  it('stops reading when its reader stops', async () => {
    const disk = new ForgetfulDisk();
    disk.plant('/file', 'a\nb\n'.repeat(100));
    const file = await disk.open('/file', 'r');
    for await (const { bytes } of readLines(file, { chunkBytes: 8 })) {
      expect(bytes.toString()).toBe('a');
      break;
    }
    // The next piece is read while this one is looked at, and no other.
    expect(disk.counts.read).toBe(2);
  });
});
