import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from '../../../src/contract/redact.js';

describe('redact', () => {
  it.each([
    ['a sesame-1234 b', 'a [redacted] b'],
    ['sesame-1234sesame-1234', '[redacted][redacted]'],
    ['Bearer sesame-1234', 'Bearer [redacted]'],
    ['nothing', 'nothing'],
    ['', ''],
  ])('%j → %j', (text, masked) => {
    expect(redact(text, ['sesame-1234'])).toBe(masked);
  });

  it('masks a short secret only behind Bearer', () => {
    expect(redact('{"k":"k","authorization":"Bearer k"}', ['k'])).toBe(
      '{"k":"k","authorization":"[redacted]"}',
    );
  });

  it('masks every secret, and none that is empty', () => {
    expect(redact('first-secret second-secret', ['first-secret', '', 'second-secret'])).toBe(
      '[redacted] [redacted]',
    );
  });

  it('leaves JSON that can be read, without the secret', () => {
    const secret = fc.stringMatching(/^[\x21-\x7e]{8,40}$/).filter((text) => !'[redacted]'.includes(text));
    const echo = (text: string): unknown[] => [{ said: text }, [`Bearer ${text}`], encodeURIComponent(text)];
    fc.assert(
      fc.property(secret, (text) => {
        const masked = redact(JSON.stringify(echo(text)), [text]);
        expect(masked).not.toContain(text);
        expect(JSON.stringify(JSON.parse(masked))).not.toContain(JSON.stringify(text).slice(1, -1));
      }),
      { numRuns: 2_000 },
    );
  });

  it('masks a secret whose slashes were escaped', () => {
    expect(redact('"abc\\/def\\/ghi"', ['abc/def/ghi'])).toBe('"[redacted]"');
  });
});
