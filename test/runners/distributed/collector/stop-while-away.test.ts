import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { asyncScheduler, Subject, type SchedulerLike } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runDistributed } from '../../../../runners/distributed/collector/run-distributed.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { openCutLink, type CutLink } from '../../../support/cut-link.js';
import { hurriedClock } from '../../../support/hurried-clock.js';
import { finished, type Finished } from '../../../support/run-folder.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
let link: CutLink;
beforeEach(async () => {
  run = await openSharedRun();
  link = await openCutLink(run.url);
});
afterEach(async () => {
  await link[Symbol.asyncDispose]();
  await run.close();
});

/** More than a machine that is slow to notice something buys meanwhile. */
const rows = 120;

/** A run whose worker has bought a few of its rows. */
async function startRun(scheduler: SchedulerLike = asyncScheduler) {
  const input = { sleepMs: 200 };
  run.folder.manifest(Array.from({ length: rows }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input })));
  await run.work();
  const { apiKey, baseUrl, lbBaseUrl } = run.emulator;
  const stop = new Subject<'graceful' | 'now'>();
  const manifest = { path: `${run.folder.path}/manifest.jsonl` };
  const terms = { concurrency: 4, assumePriceUsd: 0.01, stop, scheduler };
  const given = { ...terms, manifest, out: run.folder.out, apiKey, baseUrl, lbBaseUrl };
  const connect = () => connectDatabase({ url: link.url });
  const end = finished(runDistributed(given, { connect }));
  await until(() => run.emulator.bill().length > 4);
  return { stop, end };
}

function warnings({ events }: Finished): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
}

describe('a run that is stopped while its database is away', () => {
  it('stops its workers once the database answers', async () => {
    const { stop, end } = await startRun();
    link.cut();
    stop.next('graceful');
    await pause(1_000);
    link.mend();
    expect(await end).toMatchObject({
      exitCode: 130,
      reason: expect.stringMatching(
        /^Interrupted\. Run the same command again to go on\. \d+ rows to go\.$/,
      ) as string,
    });
    expect(run.emulator.bill().length).toBeLessThan(rows);
    expect(warnings(await end).filter((text) => text.includes('asked to stop'))).toEqual([]);
  });

  it('ends at a second order, and says what its workers may still buy', async () => {
    // By this clock, the run would wait for its database for minutes, and not end before the test's limit.
    const { stop, end } = await startRun(hurriedClock(1 / 20));
    link.cut();
    stop.next('graceful');
    await pause(500);
    stop.next('now');
    expect(await end).toMatchObject({ exitCode: 130 });
    const asked = warnings(await end).filter((text) => text.includes('asked to stop'));
    expect(asked).toEqual([
      expect.stringMatching(/may still buy up to \d+ rows that are fed: stop them yourself/),
    ]);
  });

  it.each(['cut', 'hush'] as const)(
    'ends after a while where the database never answers: %s',
    async (how) => {
      const { stop, end } = await startRun();
      link[how]();
      const from = Date.now();
      stop.next('graceful');
      expect(await end).toMatchObject({
        exitCode: 130,
        reason: expect.stringContaining('The database') as string,
      });
      expect(Date.now() - from).toBeLessThan(60_000);
      expect(warnings(await end).join()).toContain('The workers could not be asked to stop');
    },
  );
});

it('a run that is stopped where the database takes no orders any more ends: no worker would ever end it', async () => {
  const { stop, end } = await startRun();
  const database = new pg.Client(run.url).on('error', () => undefined);
  await database.connect();
  // As where somebody has revoked what the user may do.
  await database.query(`
    create function millrace.refuse() returns trigger language plpgsql as $$
      begin raise exception 'permission denied for table ledgers' using errcode = '42501'; end $$;
    create trigger refuse before update on millrace.runs for each row execute function millrace.refuse()`);
  stop.next('graceful');
  expect(await end).toMatchObject({
    exitCode: 130,
    reason: expect.stringContaining('does not allow what millrace needs') as string,
  });
  await database.query('drop trigger refuse on millrace.runs').finally(() => database.end());
  const next = await run.collect({ concurrency: 50, assumePriceUsd: 0.01 });
  expect(next.summary.rows).toMatchObject({ completed: rows, toDo: 0 });
  expect(run.emulator.bill()).toHaveLength(rows);
});
