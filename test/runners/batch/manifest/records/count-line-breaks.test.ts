import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { countLineBreaks } from '../../../../../runners/batch/manifest/records/text-guard.js';

test.prop([fc.string({ unit: fc.constantFrom('a', '\r', '\n') })])(
  'counts what a regular expression counts',
  (text) => {
    expect(countLineBreaks(Buffer.from(text))).toBe(text.match(/\r\n|\r|\n/g)?.length ?? 0);
  },
);
