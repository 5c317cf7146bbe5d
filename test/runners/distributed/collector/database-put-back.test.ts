import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun();
});
afterEach(() => run.close());

const results = () => run.folder.text('results.jsonl').split('\n').length - 1;

it.each([
  ['and has fewer records', `delete from millrace.records; update millrace.ledgers set seq = 0`],
  ['and has others since', `update millrace.records set record = replace(record, '"at":1', '"at":2')`],
])(
  'stops where the database is put back %s: nothing is copied behind a gap [fault 19b]',
  async (_, putBack) => {
    const rows = Array.from({ length: 60 }, (__, n) => ({
      ...{ id: `r${n}`, endpoint: 'echo' },
      input: { n, sleepMs: 100 },
    }));
    run.folder.manifest(rows);
    await run.work();
    const collecting = run.collect({ concurrency: 2 });
    await until(() => results() >= 6);
    const database = new pg.Client(run.url);
    await database.connect();
    await database.query(putBack).finally(() => database.end());
    const end = await collecting;
    expect([end.exitCode, end.reason]).toEqual([
      74,
      expect.stringContaining('was put back to an earlier state'),
    ]);
    const bought = run.emulator.bill().length;
    expect(bought).toBeLessThan(60);
    const again = await run.collect({ concurrency: 2 });
    expect([again.exitCode, run.emulator.bill().length]).toEqual([74, bought]);
    const repaired = await run.collect({ concurrency: 2, repair: true });
    expect(repaired.summary.rows.toDo).toBe(0);
    const inputs = run.emulator.bill().map(({ input }) => JSON.stringify(input));
    expect(new Set(inputs).size).toBe(inputs.length);
  },
);
