import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { IsoTimes } from '../../../../runners/report/read/iso-time.js';

describe('IsoTimes', () => {
  const times = new IsoTimes();
  const plain = (text: string) => times.plain(Buffer.from(` ${text} `), 1, Buffer.byteLength(text) + 1);
  const read = (text: string) => (Number.isNaN(plain(text)) ? Date.parse(text) : plain(text));

  test.prop([fc.date({ noInvalidDate: true }), fc.nat({ max: 86_399_999 })])(
    'reads what toISOString writes',
    (date, later) => {
      const other = new Date(Math.min(date.getTime() + later, 8.64e15));
      for (const one of [date, other, date]) expect(read(one.toISOString())).toBe(one.getTime());
    },
  );

  it('reads them by itself where the year has four digits', () => {
    const text = '2026-11-22T20:06:01.123Z';
    expect(plain(text)).toBe(Date.parse(text));
  });

  const sign = fc.constantFrom(...Array.from('0123456789-:.TZ +'));
  test.prop([fc.nat({ max: 23 }), sign], { numRuns: 2_000 })(
    'reads any other text as Date.parse does',
    (at, other) => {
      const text = '2026-11-22T20:06:01.123Z';
      const wrong = text.slice(0, at) + other + text.slice(at + 1);
      expect(read(wrong)).toBe(Date.parse(wrong));
    },
  );

  it.each([
    '',
    '2026',
    '2026-02-30T00:00:00.000Z',
    '2026-11-22T24:00:00.000Z',
    '2026-11-22T20:06:01.123+01:00',
  ])('reads %j as Date.parse does', (text) => {
    expect(read(text)).toBe(Date.parse(text));
  });
});
