import fc from 'fast-check';
import { expect, it } from 'vitest';
import { embedJson } from '../../../../runners/report/messages/escape-html.js';

it('reads back as it was, and neither ends a script element nor opens a comment in it', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('</script>', '<!--', '<script', ']]>', '\u2028', '"', '\\', 'a', '\ud800'),
  });
  fc.assert(
    fc.property(fc.dictionary(hostile, hostile), (value) => {
      const text = embedJson(value);
      expect(text).not.toMatch(/[<\u2028\u2029]/);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
