import { renameSync } from 'node:fs';
import pg from 'pg';
import { map } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { JournalError } from '../../../../runners/batch/journal/journal-error.js';
import { runStages, type RunStages } from '../../../../runners/batch/run-batch.js';
import { runDistributed } from '../../../../runners/distributed/collector/run-distributed.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { finished } from '../../../support/run-folder.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await openDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun(database);
  run.folder.manifest(
    Array.from({ length: rows }, (_, n) => ({
      id: `r${n}`,
      endpoint: 'echo',
      input: { n, url, sleepMs: 200 },
    })),
  );
  await run.work();
});
afterEach(() => run.close());

/** More than a machine that is slow to notice something buys meanwhile. */
const rows = 120;
const url = 'https://files.test/a.pdf';
const options = { concurrency: 4, assumePriceUsd: 0.01 };

/** Waits until workers have no row of the run, and expects that they have left rows unsent. */
async function expectStopped(): Promise<void> {
  await until(async () => {
    const found = await client.query<{ rows: number }>(
      'select sum(in_flight)::int as rows from millrace.ledgers',
    );
    return found.rows[0]?.rows === 0;
  });
  expect(run.emulator.bill().length).toBeLessThan(rows);
}

it('a run whose folder is moved stops its workers [fault 19a]', async () => {
  const { out } = run.folder;
  const start = run.collect(options);
  await until(() => run.emulator.bill().length > 4);
  renameSync(out, `${out}-moved`);
  const end = await start;
  expect([end.exitCode, end.reason]).toEqual([74, expect.stringContaining('Nothing more is sent')]);
  await expectStopped();
  renameSync(`${out}-moved`, out);
  const { exitCode, summary } = await run.collect({ ...options, concurrency: 50 });
  expect([exitCode, summary.rows.completed, run.emulator.bill().length]).toEqual([0, rows, rows]);
});

it('a run that cannot note the files that it saves stops its workers', async () => {
  const savePictures: RunStages['savePictures'] = () =>
    map(() => {
      throw new JournalError('journal-io', 'no room');
    });
  const { apiKey, baseUrl, lbBaseUrl } = run.emulator;
  const manifest = { path: `${run.folder.path}/manifest.jsonl` };
  const saveOutput = ['output.echo.url'];
  const given = { ...options, saveOutput, manifest, out: run.folder.out, apiKey, baseUrl, lbBaseUrl };
  const connect = () => connectDatabase({ url: database.url });
  const end = await finished(runDistributed(given, { connect }, { ...runStages, savePictures }));
  expect([end.exitCode, end.reason]).toEqual([74, expect.stringContaining('no room')]);
  await expectStopped();
});

it.each([
  ['record kind', { k: 'skipped', at: 1, id: 'r1' }],
  ['failure code', { k: 'outcome', at: 1, id: 'r1', status: 'failed', error: { code: 'skipped' } }],
])(
  'a run whose worker is of a newer version stops at a %s that is not known, and copies it in no start',
  async (what, record) => {
    const start = run.collect(options);
    await until(() => run.emulator.bill().length > 4);
    await client.query(
      `with next as (update millrace.ledgers set seq = seq + 1 where run = (select max(run) from millrace.runs) returning run, seq)
     insert into millrace.records select run, seq, gen_random_uuid(), false, $1 from next`,
      [JSON.stringify(record)],
    );
    const newer = [74, expect.stringContaining(`the ${what} "skipped", which this millrace does not know`)];
    const end = await start;
    expect([end.exitCode, end.reason]).toEqual(newer);
    await expectStopped();
    const again = await run.collect(options);
    expect([again.exitCode, again.reason]).toEqual(newer);
    expect(run.folder.text('journal.jsonl')).not.toContain('skipped');
  },
);
