import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ObjectScanner } from '../../../../runners/report/read/object-scanner.js';

const paths = [['a'], ['b'], ['c', 'a'], ['c', 'b', 'a'], ['c', 'ä']];

function scanned(text: string): unknown[] | undefined {
  const scanner = new ObjectScanner(paths);
  // What stands around the line must make no difference.
  const bytes = Buffer.from(`{"a":1}\n${text}\n,"b":2}`);
  if (!scanner.scan(bytes, 8, 8 + Buffer.byteLength(text))) return undefined;
  for (const place of paths.keys()) {
    const { at, length } = scanner.extentOf(place);
    expect(bytes.toString('utf8', 8 + at, 8 + at + length)).toBe(scanner.raw(place));
  }
  return paths.map((_, place) => [
    scanner.has(place) ? (JSON.parse(scanner.raw(place)) as unknown) : 'missing',
    scanner.text(place),
    scanner.number(place),
    scanner.isObject(place),
  ]);
}

/** The same by `JSON.parse`. */
function parsed(text: string): unknown[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return paths.map((path) => {
    let at: unknown = value;
    for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    return [
      at === undefined ? 'missing' : at,
      typeof at === 'string' ? at : undefined,
      typeof at === 'number' && Number.isFinite(at) ? at : undefined,
      isObject(at),
    ];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const key = fc.constantFrom('a', 'b', 'c', 'ä', 'ab', '', '"', '\\', '\u0001');
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -0.5, 1e21, 1e-7, 12, 1234567890123456),
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '/', '\n', 'é', '😀', '\u0001', '\u2028', '{', ',') }),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }).map((pairs) => ({ pairs })),
}));

/** Written with blanks, and with keys that come twice: `JSON.stringify` writes neither. */
function written(value: unknown, blank: string): string {
  if (Array.isArray(value)) return `[${blank}${value.map((one) => written(one, blank)).join(`,${blank}`)}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = (value['pairs'] as [string, unknown][]).map(
    ([name, one]) => `${JSON.stringify(name)}${blank}:${written(one, blank)}`,
  );
  return `{${pairs.join(`${blank},`)}${blank}}`;
}

describe('ObjectScanner', () => {
  test.prop([json.object, fc.constantFrom('', ' ', '\t', '\r', '  ')], { numRuns: 1_000 })(
    'finds what JSON.parse finds',
    (object, blank) => {
      const text = written(object, blank);
      expect(scanned(text)).toStrictEqual(parsed(text));
    },
  );

  const sign = fc.constantFrom(
    ...Array.from('{}[]:,"\\ \t\r0123-+.eE'),
    ...['"a"', '"a":', '"b":1', '"c":{', 'true', 'nul', 'null', 'false', '\\u00', '\\n', 'é', '\u0001'],
  );
  test.prop([fc.array(sign, { maxLength: 14 })], { numRuns: 8_000 })(
    'takes and refuses what JSON.parse takes and refuses',
    (signs) => {
      for (const text of [signs.join(''), `{"a":${signs.join('')}}`, `{${signs.join('')}}`])
        expect(scanned(text)).toStrictEqual(parsed(text));
    },
  );

  test.prop([json.object, fc.nat(), fc.constantFrom(...Array.from('{}[]:,"\\0a.-é '))], { numRuns: 1_500 })(
    'agrees on a line in which one sign is wrong',
    (object, place, other) => {
      const text = written(object, '');
      const at = place % text.length;
      // Half a character becomes U+FFFD.
      const wrong = Buffer.from(text.slice(0, at) + other + text.slice(at + 1)).toString();
      expect(scanned(wrong)).toStrictEqual(parsed(wrong));
    },
  );

  it('takes escaped keys for what they are', () => {
    expect(scanned(String.raw`{"\u0061":"\u00e4","c":{"\u00e4":[1]}}`)).toStrictEqual(
      parsed('{"a":"ä","c":{"ä":[1]}}'),
    );
  });

  it('is not overwhelmed by depth', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":1}`;
    const scanner = new ObjectScanner(paths);
    expect(scanner.scan(Buffer.from(deep), 0, deep.length)).toBe(true);
    expect(scanner.number(1)).toBe(1);
    expect(scanner.scan(Buffer.from(deep.replace(']', '}')), 0, deep.length)).toBe(false);
  });
});
