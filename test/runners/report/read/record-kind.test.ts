import { expect, it } from 'vitest';
import { recordKind } from '../../../../runners/report/read/record-kind.js';

it.each([
  ['{"n":12,"k":"intent","at":1,"id":"a"}', 'intent'],
  ['{"k":"outcome","at":1}', 'outcome'],
  [`{"n":1,"id":"${'x'.repeat(80)}","k":"late"}`, undefined],
  ['{"n":1,"k":"cut', undefined],
  ['', undefined],
])('reads the head of %j', (line, kind) => expect(recordKind(Buffer.from(line))).toBe(kind));
