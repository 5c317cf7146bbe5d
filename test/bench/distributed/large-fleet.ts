import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connectDatabase } from '../../../runners/distributed/connect-database.js';
import { recallRun } from '../../../runners/distributed/table/recall-run.js';
import { readState } from '../../../runners/distributed/table/run-state.js';
import { beginStart, makeRun } from '../../../runners/distributed/table/runs.js';
import { feedRows } from '../../support/fleet.js';
import { rowsOf, termsWith } from '../../support/run-database.js';
import { figure, type Figure } from '../figure.js';
import { startService } from '../service/start-service.js';
import { openFleet, runToTheEnd, withFolder, writeJobs } from './open-fleet.js';
import { residentMegabytes } from './process-cpu.js';

/** What four workers make of a rate, at a service that takes no more. */
export async function measureRate(rate: number): Promise<Figure[]> {
  const service = await startService({ perSecond: rate, longestMs: 20 });
  const { baseUrl } = service;
  const counts = await withFolder(async (folder) => {
    const manifest = await writeJobs(folder, 10 * rate, 0);
    const fleet = await openFleet(join(folder, 'database'), { baseUrl, workers: 4 });
    const limits = ['--rate', String(rate), '--concurrency', String(2 * rate)];
    await runToTheEnd([manifest, '--out', join(folder, 'out'), ...limits, ...fleet.db], baseUrl);
    await fleet.close();
    return service.counts();
  });
  service.close();
  const { answered, refused, firstAt, lastAt } = counts;
  const share = answered / ((lastAt - firstAt) / 1_000) / rate;
  return [
    figure(`--rate ${rate} over four workers: share reached`, '', [share], { limit: { atLeast: 0.95 } }),
    figure('the same: answers that are 429', '', [refused / (answered + refused)], {
      limit: { atMost: 0.005 },
    }),
  ];
}

/** The memory of two workers whose service has accepted all of these rows, which come as they are taken. */
export async function measureWaiting(rows: number): Promise<Figure[]> {
  const service = await startService({ longestMs: 36_000_000 });
  const { baseUrl } = service;
  const { megabytes, larger } = await withFolder(async (folder) => {
    const fleet = await openFleet(join(folder, 'database'), { baseUrl, workers: 2 });
    const database = await connectDatabase({ url: fleet.url });
    const run = await makeRun(database, 'waiting');
    const start = await recallRun(database, run);
    const identity = { baseUrl, lbBaseUrl: '', local: false };
    // What a call costs by default: more of them would be on the wire than waiting.
    const pollCostMs = 190;
    const terms = termsWith({ identity, concurrency: rows, timeoutMs: 86_400_000, pollCostMs });
    await beginStart(database, { run, start }, terms, { spent: 0, unknown: 0, collected: 0 });
    const tasks = rowsOf(rows);
    let fed = 0;
    let most = 0;
    for (let sent = 0; sent < rows;) {
      const { open, inFlight, seq } = await readState(database, run);
      // An intent and a job id.
      sent = Math.floor(seq / 2);
      if (fed < rows && open < 1_000 && fed - sent < 2_000)
        await feedRows(database, run, tasks.slice(fed, (fed += 1_000)));
      most = Math.max(most, ...fleet.workers.map(({ pid = 0 }) => residentMegabytes(pid)));
      if (fed % 10_000 === 0) process.stderr.write(`${inFlight} in flight, at most ${most} MB\n`);
      await pause(500);
    }
    const held = await fleet.client.query<{ rows: number }>(
      'select count(*)::int as rows from millrace.rows where worker is not null group by worker',
    );
    // Their jobs do not end.
    for (const child of fleet.workers) child.kill('SIGKILL');
    await database.close();
    await fleet.close();
    return { megabytes: most, larger: Math.max(...held.rows.map((one) => one.rows)) };
  });
  service.close();
  return [
    figure(`two workers with ${rows} rows in flight: peak memory of one`, 'MB', [megabytes], {
      limit: { atMost: 250 },
    }),
    figure(`the same ${rows} rows: those of the worker that has more`, 'rows', [larger]),
  ];
}
