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
    expect(redact('bearer%20a%2Fb&nbsp;a/b', ['a/b'])).toBe('[redacted]&nbsp;a/b');
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
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['slashes escaped', 'abc\\/def\\/ghi='],
    ['one character as JSON', 'abc/def/ghi\\u003d'],
    ['in capitals', '\\u0061bc\\u002Fdef/ghi\\u003D'],
    ['every character as JSON', 'abc/def/ghi='.replace(/./g, asJson)],
    ['JSON within JSON', JSON.stringify(JSON.stringify('abc\\u002fdef\\/ghi=').slice(1, -1)).slice(1, -1)],
    ['percent-encoded', encodeURIComponent('abc/def/ghi=')],
    ['partly', 'abc%2fdef/ghi%3D'],
    ['twice', encodeURIComponent(encodeURIComponent('abc/def/ghi='))],
    ['HTML', 'abc&#47;def&sol;ghi&#x3D;'],
    ['HTML, of HTML', 'abc&amp;#47;def&amp;sol;ghi&amp;#x003d;'],
    ['JSON, percent-encoded', encodeURIComponent('abc\\u002fdef/ghi\\u003d')],
    ['an octet of JavaScript', 'abc\\x2fdef/ghi\\x3D'],
    ['an escape of VBScript', '%u0061bc%u002fdef/ghi%u003D'],
    ['octal', 'abc\\057def/ghi\\075'],
    ['quoted-printable', 'abc=2Fdef=2Fghi=3D'],
    ['UTF-16', Array.from('abc/def/ghi=').join('\0')],
    ['UTF-16 in JSON', Array.from('abc/def/ghi=').join('\\u0000')],
    ['hexadecimal', Buffer.from('abc/def/ghi=').toString('hex')],
    ['hexadecimal in capitals', Buffer.from('abc/def/ghi=').toString('hex').toUpperCase()],
    ['more than its first half', 'abc/def/g'],
  ])('masks a secret in another spelling: %s', (_spelling, echo) => {
    expect(redact(`<${echo}>`, ['abc/def/ghi='])).toBe('<[redacted]>');
  });

  it.each(['', 'x', 'xy', 'Bearer ', 'Basic user:'])('masks base64 of it behind %j', (before) => {
    const secret = 'rpa_A1b2C3d4E5f6?>~~';
    for (const alphabet of ['base64', 'base64url'] as const) {
      const masked = redact(Buffer.from(`${before}${secret} and more`).toString(alphabet), [secret]);
      expect(masked).toContain('[redacted]');
      expect(Buffer.from(masked.replace('[redacted]', ''), 'base64').toString()).not.toContain(
        secret.slice(4, 12),
      );
    }
  });

  it.each(['passw€rd-of-a-db', 'sk-live-1234…', 'Schlüssel-1234'])(
    'masks %j, as it is and as base64',
    (secret) => {
      const bytes = Buffer.from(`user:${secret} and more`);
      expect(redact(`<${secret}>`, [secret])).toBe('<[redacted]>');
      for (const alphabet of ['base64', 'base64url', 'hex'] as const)
        expect(redact(bytes.toString(alphabet), [secret])).toContain('[redacted]');
    },
  );

  it('masks a short secret that contains an escape, when other characters of it are escaped too', () => {
    expect(redact('!]%21%2a&]', ['!]!%2a&]'])).toBe('[redacted]');
  });

  it('leaves what only begins like it', () => {
    expect(redact('rpa_ and rpa_A1b2 and a%20b &amp; \\u0041', ['rpa_A1b2C3d4E5f6G7h8'])).toBe(
      'rpa_ and rpa_A1b2 and a%20b &amp; \\u0041',
    );
  });

  it('leaves no secret in any mixture of spellings, and JSON that can be read', () => {
    const secret = fc.stringMatching(/^[\x21-\x5b\x5d-\x7e]{8,60}$/).filter((text) => new Set(text).size > 5);
    const choices = fc.array(fc.nat(spelled.length - 1), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(secret, choices, fc.nat(3), (text, choice, depth) => {
        const echo = text.replace(/./g, (one: string, at: number) => spelled[choice[at] ?? 0]?.(one) ?? one);
        let body = `{"text":"${echo}","more":"\\"it\\""}`;
        for (let level = 0; level < depth; level++) body = JSON.stringify({ inner: body });
        const masked = redact(body, [text]);
        let read: unknown = masked;
        for (let level = 0; level <= depth; level++) {
          const { inner } = (read = JSON.parse(read as string)) as { inner?: string };
          if (level < depth) read = inner;
        }
        expect(read).toMatchObject({ more: '"it"' });
        const { text: echoed } = read as { text: string };
        expect(echoed).toContain('[redacted]');
        for (const shown of decodings(masked)) expect(shown).not.toContain(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads a pathological text in linear time', () => {
    const secret = '====////++++====////';
    const parts = ['\\', '%25', '&amp;', '=', '\\u003', '%3D%3', '/\\'];
    const costOf = (length: number): number => {
      const before = process.cpuUsage().user;
      for (const part of parts) redact(part.repeat(length), [secret]);
      return process.cpuUsage().user - before;
    };
    // The cheapest of some: other work on the machine, and a collection of garbage, only add. Linear is 4 times, quadratic 16 times.
    const costs = Array.from({ length: 5 }, () => [costOf(10_000), costOf(40_000)] as const);
    const [short, long] = [0, 1].map((index) => Math.min(...costs.map((pair) => pair[index] ?? Infinity)));
    expect((long ?? Infinity) / (short ?? 0)).toBeLessThan(9);
  });
});

function asJson(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');

/** Ways to write a character within a JSON string. */
const spelled: ((character: string) => string)[] = [
  (one) => JSON.stringify(one).slice(1, -1),
  (one) => (one === '/' ? '\\/' : JSON.stringify(one).slice(1, -1)),
  asJson,
  (one) => `\\u00${hex(one).toUpperCase()}`,
  (one) => `%${hex(one)}`,
  (one) => `%${hex(one).toUpperCase()}`,
  (one) => `%25${hex(one)}`,
  (one) => `&#${one.charCodeAt(0)};`,
  (one) => `&#x${hex(one)};`,
  (one) => `&#X0${hex(one).toUpperCase()};`,
  (one) => `&amp;#${one.charCodeAt(0)};`,
  (one) => `\\\\u00${hex(one)}`,
  (one) => `%5Cu00${hex(one)}`,
  (one) => `%u00${hex(one)}`,
  (one) => `=${hex(one).toUpperCase()}`,
  (one) => `${JSON.stringify(one).slice(1, -1)}\\u0000`,
];

/** The text, and what one, two and three rounds of reading its escapes make of it. */
function decodings(text: string): string[] {
  const all = [text];
  for (let round = 0; round < 4; round++)
    all.push(
      (all.at(-1) ?? '')
        .replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
        .replace(/\\(["\\/])/g, '$1')
        .replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
        .replace(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
        .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
        .replaceAll('&amp;', '&'),
    );
  return all;
}
