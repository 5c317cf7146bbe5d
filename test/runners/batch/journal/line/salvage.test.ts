import { describe, expect, it } from 'vitest';
import { salvage, encodeRecord } from '../../../../../runners/batch/journal/line/record-line.js';
import { accepted, intent } from '../../../../support/sample-records.js';

const first = encodeRecord(1, intent('a')).subarray(0, -1);
const second = encodeRecord(2, accepted('a')).subarray(0, -1);

function found(...parts: (Buffer | string)[]): string[] {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return [...salvage(bytes)].map(({ start, end }) => bytes.toString('utf8', start, end));
}

describe('salvage', () => {
  it('finds nothing in what is no record', () => {
    expect(found('')).toEqual([]);
    expect(found('\0\0\0{"n":1,"k":"intent"')).toEqual([]);
    expect(found(first.subarray(0, -1))).toEqual([]);
    expect(found(first.subarray(1))).toEqual([]);
  });

  it('finds whole records among other bytes, from the first to the last', () => {
    expect(found(first)).toEqual([first.toString()]);
    expect(found('junk', first, 'X', second, '{"n":3')).toEqual([first.toString(), second.toString()]);
    expect(found(first.subarray(0, 40), second)).toEqual([second.toString()]);
  });

  it('does not take a part of a row for a record, nor its end for another end', () => {
    const inner = encodeRecord(9, accepted('inner')).toString().trim();
    const outer = encodeRecord(
      3,
      intent('outer', { columns: { n: 1, c: '00000000', k: 'x', text: inner } }),
    ).subarray(0, -1);
    expect(found(outer)).toEqual([outer.toString()]);
  });
});
