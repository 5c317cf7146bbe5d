import { describe, expect, it } from 'vitest';
import {
  field,
  fieldCount,
  fieldNamed,
  isFieldAt,
  keyLength,
} from '../../../../../runners/batch/journal/line/record-line.js';

const all = Object.entries(field);

describe('the fields of a head', () => {
  it.each(all)('%s is found by its name, and by no part of it', (name, place) => {
    const bytes = Buffer.from(`{"${name}":1}`);
    const end = 2 + name.length;
    expect(fieldNamed(bytes, 2, end)).toBe(place);
    expect(fieldNamed(bytes, 2, end - 1)).toBe(fieldCount);
    expect(isFieldAt(bytes, 2, place)).toBe(true);
    expect(keyLength(place)).toBe(`${name}":`.length);
  });

  it('are told apart', () => {
    for (const [name, place] of all) {
      const bytes = Buffer.from(`"${name}":`);
      const found = all.filter(([, other]) => isFieldAt(bytes, 1, other));
      expect(found).toEqual([[name, place]]);
    }
  });

  it.each(['nn', 'iid', 'statusCodes', '', 'resalution'])('are not %s', (name) => {
    const bytes = Buffer.from(`"${name}":1`);
    expect(fieldNamed(bytes, 1, 1 + name.length)).toBe(fieldCount);
  });

  it('take up no more bits than a number has', () => {
    expect(fieldCount).toBeLessThan(31);
  });
});
