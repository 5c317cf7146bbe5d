import { setTimeout as pause } from 'node:timers/promises';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runDistributed } from '../../../../runners/distributed/collector/run-distributed.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { openCutLink, type CutLink } from '../../../support/cut-link.js';
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

const rows = 60;

/** A run whose worker has bought a few of its rows. */
async function startRun() {
  const input = { sleepMs: 200 };
  run.folder.manifest(Array.from({ length: rows }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input })));
  await run.work();
  const { apiKey, baseUrl, lbBaseUrl } = run.emulator;
  const stop = new Subject<'graceful' | 'now'>();
  const manifest = { path: `${run.folder.path}/manifest.jsonl` };
  const terms = { concurrency: 4, assumePriceUsd: 0.01, stop };
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
    expect(run.emulator.bill().length).toBeLessThan(rows / 2);
    expect(warnings(await end).filter((text) => text.includes('asked to stop'))).toEqual([]);
  });

  it('ends at a second order, and says what its workers may still buy', async () => {
    const { stop, end } = await startRun();
    link.cut();
    stop.next('graceful');
    await pause(500);
    const from = Date.now();
    stop.next('now');
    expect(await end).toMatchObject({ exitCode: 130 });
    expect(Date.now() - from).toBeLessThan(2_000);
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
      expect(Date.now() - from).toBeLessThan(25_000);
      expect(warnings(await end).join()).toContain('The workers could not be asked to stop');
    },
  );
});
