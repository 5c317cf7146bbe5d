import { expect, it } from 'vitest';
import { parseJsonFile } from '../../../../runners/batch/manifest/json-file.js';

it.each([
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a": 1,\n}', 2, 1],
  ['{"a": 1}\n}', 2, 1],
  ['{"a": [1, 2}', 1, 12],
  ['{"a": True}', 1, 7],
  ["{'a': 1}", 1, 2],
  ['{"a" 1}', 1, 6],
  ['{"a": 01}', 1, 8],
  ['{"a": 1.}', 1, 8],
  ['{"a": "b\nc"}', 1, 7],
  ['{"a": [], "b": {},\n "c": "\\x"}', 2, 7],
  ['\uFEFF{"a": 1 // note\n}', 1, 9],
  ['[1 2]', 1, 4],
  ['{"a": 1, 2}', 1, 10],
])('says where %j stops being JSON', (text, line, column) =>
  expect(parseJsonFile(text)).toEqual({
    problem: `is not JSON at line ${line}, column ${column}`,
    isNoJson: true,
  }),
);
