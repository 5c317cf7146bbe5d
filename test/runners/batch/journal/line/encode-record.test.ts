import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../../../runners/batch/journal/line/record-line.js';
import { failed, intent, start, wholeLife } from '../../../../support/sample-records.js';

describe('encodeRecord', () => {
  it('writes one line of JSON that ends with the checksum of what stands before it', () => {
    for (const record of wholeLife()) {
      const line = encodeRecord(7, record).toString();
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toMatchObject({ n: 7, ...record });
      const [, body = '', checksum = ''] = /^(.*),"c":"([0-9a-f]{8})"\}\n$/s.exec(line) ?? [];
      expect(Number.parseInt(checksum, 16)).toBe(crc32(body));
    }
  });

  it('writes long records in the same way', () => {
    for (const note of ['x', 'é', '𝄞'].map((letter) => letter.repeat(400_000))) {
      const line = encodeRecord(7, intent('a', { columns: { note } })).toString();
      expect(JSON.parse(line)).toMatchObject({ n: 7, k: 'intent', columns: { note } });
      const [, body = '', checksum = ''] = /^(.*),"c":"([0-9a-f]{8})"\}\n$/s.exec(line) ?? [];
      expect(Number.parseInt(checksum, 16)).toBe(crc32(body));
    }
  });

  it('puts what recovery reads in front of what it does not', () => {
    const line = encodeRecord(1, intent('a')).toString();
    expect(line).toMatch(/^\{"n":1,"k":"intent","at":2000,"id":"a","row":1,"hash":/);
    expect(line.indexOf('"resolution"')).toBeLessThan(line.indexOf('"request"'));
  });

  it("puts the code in front of a failure's words, and the format into a start", () => {
    expect(encodeRecord(1, failed('a', 'rejected')).toString()).toContain(
      '"error":{"code":"rejected","message"',
    );
    expect(JSON.parse(encodeRecord(1, start()).toString())).toMatchObject({ format: 3 });
  });

  it('leaves the record that it was given alone', () => {
    const record = failed('a', 'rejected');
    const before = structuredClone(record);
    encodeRecord(1, record);
    expect(record).toEqual(before);
  });

  it('keeps line breaks of every kind inside their line', () => {
    const line = encodeRecord(1, intent('a\n\r\u2028', { columns: { note: 'x\ny' } }));
    expect(line.filter((byte) => byte === 0x0a)).toHaveLength(1);
  });
});
