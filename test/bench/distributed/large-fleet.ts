import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { figure, type Figure } from '../figure.js';
import { startService } from '../service/start-service.js';
import { apiKey, command, openFleet, runToTheEnd, withFolder, writeJobs } from './open-fleet.js';
import { residentMegabytes } from './process-cpu.js';

/** What four workers make of a rate, at a service that takes no more. */
export async function measureRate(rate: number): Promise<Figure[]> {
  const service = await startService({ perSecond: rate, longestMs: 20 });
  const { baseUrl } = service;
  const counts = await withFolder(async (folder) => {
    const manifest = await writeJobs(folder, 10 * rate, 0);
    const fleet = await openFleet(join(folder, 'database'), { baseUrl, workers: 4, slots: rate });
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

/** The memory of two workers that have all of these rows in flight. */
export async function measureWaiting(rows: number): Promise<Figure[]> {
  const service = await startService({ longestMs: 36_000_000 });
  const { baseUrl } = service;
  const megabytes = await withFolder(async (folder) => {
    const manifest = await writeJobs(folder, rows, 0);
    const fleet = await openFleet(join(folder, 'database'), { baseUrl, workers: 2, slots: rows });
    const out = ['--out', join(folder, 'out'), '--concurrency', String(rows), '--yes', '--quiet'];
    const env = { ...process.env, MILLRACE_API_KEY: apiKey, MILLRACE_BASE_URL: baseUrl };
    const collector = spawn(process.execPath, [command, 'run', manifest, ...out, ...fleet.db], {
      env,
      stdio: 'ignore',
    });
    let most = 0;
    for (let sent = 0; sent < rows;) {
      await pause(5_000);
      const found = await fleet.client.query<{ sent: number }>(
        `select count(*)::int as sent from millrace.records where record like '{"k":"accepted"%'`,
      );
      sent = found.rows[0]?.sent ?? 0;
      most = Math.max(most, ...fleet.workers.map(({ pid = 0 }) => residentMegabytes(pid)));
      process.stderr.write(`${sent} of ${rows} in flight, at most ${most} MB\n`);
    }
    // Their jobs do not end.
    for (const child of [collector, ...fleet.workers]) child.kill('SIGKILL');
    await fleet.close();
    return most;
  });
  service.close();
  return [
    figure(`two workers with ${rows} rows in flight: peak memory of one`, 'MB', [megabytes], {
      limit: { atMost: 250 },
    }),
  ];
}
