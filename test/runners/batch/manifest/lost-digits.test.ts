import { expect, it } from 'vitest';
import { lostDigits, parseJson } from '../../../../runners/batch/manifest/parse-json.js';

it.each([
  ['{"n":9007199254740993}', '9007199254740993'],
  ['{"a":[1,{"b":-9007199254740993}]}', '-9007199254740993'],
  ['{"id":12345678901234567890,"x":1}', '12345678901234567890'],
])('names a number that would be sent as another: %s [fault 26]', (text, number) => {
  expect(lostDigits(text)).toBe(number);
  expect(parseJson(text)).toEqual({ problem: expect.stringContaining(`holds ${number}`) as string });
});

it.each([
  '{"n":9007199254740992}',
  '{"n":-56307286992198250}',
  '{"n":1e20,"m":100000000000000000000}',
  '{"n":"9007199254740993"}',
  '{"n":0.1234567890123456789}',
])('leaves %s alone', (text) => {
  expect(lostDigits(text)).toBeUndefined();
  expect(parseJson(text)).toEqual({ value: JSON.parse(text) as unknown });
});
