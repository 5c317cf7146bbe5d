import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { parseJsonl, readJsonl, recordKind } from '../../../../runners/report/read/read-jsonl.js';
import { collect } from '../../../support/collect.js';
import { reportFolder } from '../../../support/report-folder.js';

it('leaves out what does not parse and counts it, but for a last line that is being written', async () => {
  const folder = await reportFolder({ 'a.jsonl': '{"a":1}\nnonsense\n[1]\n{"a":2}\n{"a":' });
  let skipped = 0;
  const found: unknown[] = [];
  await parseJsonl(
    nodeDisk,
    join(folder, 'a.jsonl'),
    (value, offset, length) => found.push({ value, offset, length }),
    () => skipped++,
  );
  expect(found).toEqual([
    { value: { a: 1 }, offset: 0, length: 7 },
    { value: { a: 2 }, offset: 21, length: 7 },
  ]);
  expect(skipped).toBe(2);
});

it('parses only what is wanted', async () => {
  const folder = await reportFolder({ 'a.jsonl': [{ k: 'x' }, { k: 'y' }] });
  const wanted = (line: Buffer): boolean => line.includes('"y"');
  const found = await collect(readJsonl(nodeDisk, join(folder, 'a.jsonl'), wanted));
  expect(found).toEqual([{ k: 'y' }]);
});

it.each([
  ['{"n":12,"k":"intent","at":1,"id":"a"}', 'intent'],
  ['{"k":"outcome","at":1}', 'outcome'],
  [`{"n":1,"id":"${'x'.repeat(80)}","k":"late"}`, undefined],
  ['{"n":1,"k":"cut', undefined],
  ['', undefined],
])('reads the head of %j', (line, kind) => expect(recordKind(Buffer.from(line))).toBe(kind));
