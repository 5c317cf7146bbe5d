import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checksumOfLines } from '../../../../../runners/batch/journal/line/block-checksum.js';
import { encodeRecord, hasGoodChecksum } from '../../../../../runners/batch/journal/line/record-line.js';
import { intent, wholeLife } from '../../../../support/sample-records.js';

/** As a reader would find it line by line. */
function lineByLine(bytes: Buffer, before: number): number | undefined {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    if (!hasGoodChecksum(bytes, start, end)) return undefined;
    start = end + 1;
  }
  return crc32(bytes, before);
}

const short = wholeLife().map((record, index) => encodeRecord(index, record));
const long = [4_000, 4_096, 5_000, 8_192, 20_000].map((length, index) =>
  encodeRecord(index, intent('a', { columns: { note: 'ö'.repeat(length) } })),
);
const before = crc32('what stands before them');

describe('checksumOfLines', () => {
  it('is the CRC-32 of the bytes, whatever the lines hold and how long they are', () => {
    for (const lines of [[], short.slice(0, 1), short, long, [...long, ...short, ...long]]) {
      const bytes = Buffer.concat(lines);
      expect(checksumOfLines(bytes, before)).toBe(crc32(bytes, before));
    }
  });

  it('finds a flip of any bit', () => {
    const bytes = Buffer.concat(short.slice(0, 3));
    for (let at = 0; at < bytes.length - 1; at++)
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << bit;
        if (flipped.at(-1) !== 0x0a) continue;
        expect([at, bit, checksumOfLines(flipped, before)]).toEqual([at, bit, undefined]);
      }
  });

  it('answers as a check of each line, for lines that are lost, doubled, cut, joined and of other bytes', () => {
    const all = [...short, ...long];
    const blocks = all.flatMap((line, index) => {
      const others = (...changed: Buffer[]) =>
        Buffer.concat([...all.slice(0, index), ...changed, ...all.slice(index + 1)]);
      const newline = Buffer.from('\n');
      return [
        others(),
        others(line, line),
        others(line.subarray(1)),
        others(line.subarray(0, 20), newline),
        others(line.subarray(0, -1)),
        others(newline),
        others(line.subarray(0, -11), Buffer.from('0'), line.subarray(-10)),
        others(Buffer.from(line.toString().toUpperCase())),
      ].map((bytes) => (bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, newline])));
    });
    for (const bytes of blocks) expect(checksumOfLines(bytes, before)).toBe(lineByLine(bytes, before));
    expect(blocks.some((bytes) => lineByLine(bytes, before) === undefined)).toBe(true);
  });
});
