import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRecordsAfter } from '../../../../runners/distributed/table/records.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';

let run: SharedRun;
let database: pg.Pool;
beforeEach(async () => {
  const make = ({ n }: Record<string, unknown>) => ({
    n,
    text: 'x'.repeat(Number(n) % 2 === 0 ? 9_000_000 : 10),
  });
  run = await openSharedRun(undefined, { functions: { queue: { make } } });
  database = new pg.Pool({ connectionString: run.url });
});
afterEach(async () => {
  await database.end();
  await run.close();
});

const outputs = () =>
  run.folder.lines('results.jsonl').map(({ id, output }) => [id, (output as { n: number }).n]);

it('writes and copies long answers a few at a time, each of its own row', async () => {
  const rows = Array.from({ length: 10 }, (_, n) => ({ id: `r${n}`, endpoint: 'make', input: { n } }));
  const path = run.folder.manifest(rows);
  await run.work();
  const end = await run.collect({ manifest: { path, mode: 'sync' }, concurrency: 10 });
  expect([end.exitCode, outputs().sort()]).toEqual([0, rows.map(({ id, input: { n } }) => [id, n])]);
  // The records of one commit have the same transaction number.
  const { rows: commits } = await database.query<{ length: string }>(
    'select sum(octet_length(record)) as length from millrace.records group by xmin::text',
  );
  expect(Math.max(...commits.map(({ length }) => Number(length)))).toBeLessThan(19_000_000);
  const pages: number[][] = [];
  for (let after = 0; ;) {
    const page = await readRecordsAfter(database, 1, after, 1_000);
    if (page.length === 0) break;
    pages.push(page.map(({ seq }) => seq));
    after = page.at(-1)?.seq ?? after;
  }
  expect(pages.flat()).toEqual(Array.from({ length: pages.flat().length }, (_, at) => at + 1));
  expect(pages.length).toBeGreaterThanOrEqual(3);
});

it('feeds long rows a few at a time', async () => {
  const rows = Array.from({ length: 9 }, (_, n) => ({
    id: `r${n}`,
    endpoint: 'make',
    input: { n: 1, of: n, text: 'y'.repeat(4_000_000) },
  }));
  run.folder.manifest(rows);
  await run.work();
  expect((await run.collect({ concurrency: 2 })).summary.rows.completed).toBe(9);
  const { rows: ledgers } = await database.query<{ fed: number }>('select fed from millrace.ledgers');
  expect(ledgers[0]?.fed).toBeGreaterThanOrEqual(2);
});
