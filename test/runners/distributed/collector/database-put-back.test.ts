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
  // The ledger first: who has it locked writes no records meanwhile.
  ['and has fewer records', `update millrace.ledgers set seq = 0; delete from millrace.records`],
  ['and has others since', `update millrace.records set record = replace(record, '"at":1', '"at":2')`],
])(
  'stops where the database is put back %s: nothing is copied behind a gap [fault 19b]',
  async (_, putBack) => {
    const rows = Array.from({ length: 400 }, (__, n) => ({
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
    const again = await run.collect({ concurrency: 2 });
    expect(again.exitCode).toBe(74);
    // The worker may have sent the rows that it had at the stop.
    const bought = run.emulator.bill().length;
    expect(bought).toBeLessThan(rows.length);
    const repaired = await run.collect({ concurrency: 2, repair: true });
    expect([repaired.summary.rows.toDo, repaired.reason]).toEqual([0, expect.stringContaining('in doubt')]);
    expect(run.emulator.bill()).toHaveLength(bought);
    const inputs = run.emulator.bill().map(({ input }) => JSON.stringify(input));
    expect(new Set(inputs).size).toBe(inputs.length);
  },
);
