import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { EditFieldName } from '../../../../../runners/batch/manifest/columns/manifest-fields.js';
import { editInputCheck } from '../../../../../runners/batch/manifest/rows/check-edit-input.js';
import { looseImageEditInputSchema } from '../../../../../src/contract/image-edit.js';

const url = fc.constantFrom(
  'https://e.com/1.png',
  'http://e.com',
  'ftp://e.com/1',
  'javascript:alert(1)',
  '',
  'a b',
  7,
);
/** Values of each field, right and wrong. The compiler asks for each. */
const fields: Readonly<Record<EditFieldName, fc.Arbitrary<unknown>>> = {
  images: fc.oneof(
    fc.array(url, { maxLength: 16 }),
    fc.array(fc.constant('https://e.com/1.png'), { maxLength: 16 }),
    fc.string(),
  ),
  prompt: fc.oneof(fc.string(), fc.constantFrom('', ' ', 'make it red', null, 3)),
  resolution: fc.constantFrom('1k', '2K', '4k', '8k', '', null, 2),
  aspect_ratio: fc.constantFrom('16:9', '1:1', '0:1', '16x9', '1:0', '123456:1', 1),
  output_format: fc.constantFrom('png', 'jpeg', 'PNG', 'webp', null),
  enable_base64_output: fc.constantFrom(true, false, 'true', 'yes', 0),
};
const input = fc.record({ ...fields, seed: fc.jsonValue({ maxDepth: 1 }) }, { requiredKeys: [] });

describe('editInputCheck', () => {
  const check = editInputCheck();

  test.prop([input], { numRuns: 500 })('agrees with the schema, time and again', (given) => {
    const bySchema = looseImageEditInputSchema.safeParse(structuredClone(given));
    for (const checked of [check(structuredClone(given)), check(structuredClone(given))]) {
      if (bySchema.success) expect(checked).toEqual({ input: bySchema.data });
      else expect('problems' in checked && checked.problems.length).toBe(bySchema.error.issues.length);
      // A code of zod without a sentence of its own, such as too_small, would be told in zod's words.
      const worded = 'problems' in checked ? checked.problems.map(({ message }) => message ?? '') : [];
      expect(worded.filter((message) => /\b(?:Too (?:small|big)|Invalid|expected)\b/.test(message))).toEqual(
        [],
      );
    }
  });

  it('says what is wrong with each field', () => {
    expect(
      check({
        images: ['ftp://e.com/1.png', 3],
        prompt: ' ',
        resolution: '8k',
        aspect_ratio: '16x9',
        output_format: 'gif',
        enable_base64_output: 'yes',
      }),
    ).toEqual({
      problems: [
        { field: 'images', message: 'image 1: is not an http or https URL (got "ftp://e.com/1.png")' },
        { field: 'images', message: 'image 2: 3 is not text' },
        { field: 'prompt', message: 'is empty' },
        { field: 'resolution', message: '"8k" is not one of 1k, 2k, 4k' },
        {
          field: 'aspect_ratio',
          message: '"16x9" is not a ratio of the form <width>:<height>, such as 16:9',
        },
        { field: 'output_format', message: '"gif" is not one of png, jpeg' },
        { field: 'enable_base64_output', message: '"yes" is not one of true, false' },
      ],
    });
  });

  it('tells what is missing from what is wrong', () => {
    expect(check({ images: [] })).toEqual({
      problems: [
        { field: 'images', message: 'needs at least 1 image URL (got 0)' },
        { field: 'prompt', message: undefined },
      ],
    });
  });

  it('remembers no more values than it needs', () => {
    for (let width = 1; width < 3_000; width++) {
      const given = { images: ['http://e.com'], prompt: 'x', aspect_ratio: `${width}:1` };
      expect(check(given)).toEqual({ input: given });
    }
  });
});
