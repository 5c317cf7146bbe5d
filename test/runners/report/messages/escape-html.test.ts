import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeHtml, visibleText } from '../../../../runners/report/messages/escape-html.js';

it('leaves nothing that could be markup [fault 30]', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});

it('shows control characters and those that turn the reading direction', () => {
  expect(visibleText('a\u0000b\u001b[31mc\u202ed\u2028e\r\n\tf')).toBe(
    String.raw`a\x00b\x1b[31mc\u202ed\u2028e\x0d` + '\n\tf',
  );
});
