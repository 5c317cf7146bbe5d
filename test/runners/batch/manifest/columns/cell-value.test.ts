import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { cellValue } from '../../../../../runners/batch/manifest/parse-json.js';

describe('cellValue', () => {
  it.each([
    ['42', 42],
    ['-7', -7],
    ['0.5', 0.5],
    ['true', true],
    ['false', false],
    ['null', null],
    ['[1]', [1]],
    ['{"a":[true]}', { a: [true] }],
    ['"text"', 'text'],
    ['""', ''],
  ])('takes %s for JSON', (cell, value) => {
    expect(cellValue(cell)).toEqual(value);
  });

  it.each([
    '007',
    '1e3',
    ' 5',
    '5 ',
    '1.0',
    '-0',
    '+1',
    '.5',
    'True',
    'TRUE',
    'NaN',
    'nullable',
    'truely',
    '12345678901234567890',
    '[1, 2]',
    '{"a": 1}',
    '{"a":1,"a":2}',
    '[1',
    '"open',
    '1e999',
    'plain text',
    '2026-11-21',
    '['.repeat(200) + ']'.repeat(200),
  ])('leaves %s text', (cell) => {
    expect(cellValue(cell)).toBe(cell);
  });

  test.prop([fc.string()])('never changes what is sent for a text', (cell) => {
    const value = cellValue(cell);
    if (value !== cell) expect(JSON.stringify(value)).toBe(cell);
  });

  test.prop([fc.jsonValue({ maxDepth: 3 })])(
    'takes what JSON.stringify prints for the value it printed',
    (value) => {
      const printed = JSON.stringify(value);
      expect(JSON.stringify(cellValue(printed))).toBe(printed);
    },
  );
});
