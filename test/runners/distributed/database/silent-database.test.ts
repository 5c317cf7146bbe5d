import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCutLink, type CutLink } from '../../../support/cut-link.js';
import { startMillrace, type MillraceProcess } from '../../../support/millrace.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
let link: CutLink;
const started: MillraceProcess[] = [];
beforeEach(async () => {
  run = await openSharedRun();
  link = await openCutLink(run.url);
});
afterEach(async () => {
  for (const { child } of started.splice(0)) child.kill('SIGKILL');
  await link[Symbol.asyncDispose]();
  await run.close();
});

function start(...args: string[]): MillraceProcess {
  const { apiKey, baseUrl } = run.emulator;
  const env = { MILLRACE_API_KEY: apiKey, MILLRACE_BASE_URL: baseUrl };
  const process = startMillrace([...args, '--quiet', '--db', link.url], { env, cwd: run.folder.path });
  started.push(process);
  return process;
}

/** Sends both signals, and returns in how many ms after the second one the process has ended. */
async function msToEnd({ child, ended }: MillraceProcess, signal: NodeJS.Signals): Promise<number> {
  child.kill(signal);
  await pause(500);
  child.kill(signal);
  const from = Date.now();
  await ended;
  return Date.now() - from;
}

describe('a database that keeps its connections and answers no more', () => {
  it('keeps no process that is stopped by two signals', async () => {
    const input = { sleepMs: 200 };
    run.folder.manifest(Array.from({ length: 60 }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input })));
    const worker = start('worker');
    const collector = start('run', 'manifest.jsonl', '--concurrency', '4', '--assume-price', '0.01', '--yes');
    await until(() => run.emulator.bill().length > 4);
    link.hush();
    await pause(500);
    const [atRun, atWorker] = await Promise.all([msToEnd(collector, 'SIGINT'), msToEnd(worker, 'SIGTERM')]);
    expect(atRun).toBeLessThan(12_000);
    expect(atWorker).toBeLessThan(25_000);
    expect(await collector.ended).toMatchObject({ code: 130, signal: null });
    expect(await worker.ended).toMatchObject({ signal: null });
  }, 60_000);
});
