import { describe, expect, it } from 'vitest';
import { hexAt } from '../../../../../runners/batch/journal/line/record-line.js';

describe('hexAt', () => {
  it('reads eight digits, also those beyond 31 bits', () => {
    expect(hexAt(Buffer.from('"fedcba98…'), 1)).toBe(0xfedcba98);
    expect(hexAt(Buffer.from('00000000'), 0)).toBe(0);
  });

  it.each(['0000000', '0000000G', 'ABCDEF01', '0x123456'])('takes %j for none', (text) => {
    expect(hexAt(Buffer.from(text), 0)).toBe(-1);
  });
});
