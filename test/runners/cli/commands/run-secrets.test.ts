import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchRun } from '../../../../runners/report/watch/watch-run.js';
import { pageParts } from '../../../support/page-parts.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

const key = 'canary-51d0c0ffee';

describe('the API key', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    const faults = `fail=0.3:key ${key} and Bearer ${key},malformed@status=0.1,html@run=0.1,400@run=0.1:${key}`;
    work = await openRehearsal({ key, faults });
  });
  afterEach(() => work.close());

  it('stands in no file, in nothing that is printed, and not in the list of processes [fault 31]', async () => {
    await work.write('rows.jsonl', echoJobs(60, { sleepMs: 10 }));
    const run = work.start('run', 'rows.jsonl', '--metrics-file', 'rows.out.prom');
    await until(() => work.emulator.bill().length > 5);
    const commandLine = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(run.child.pid)], {
      encoding: 'utf8',
    });
    expect(commandLine).toContain('run rows.jsonl');
    const { code, stdout, stderr } = await run.ended;
    const status = await work.call('status', 'rows.out', '--json');
    expect(code).toBe(6);
    expect(stdout).toContain('[redacted]');
    for (const text of [commandLine, stdout, stderr, status.stdout]) expect(text).not.toContain(key);
    for (const [file, text] of await work.everything('rows.out'))
      expect([file, text.includes(key)]).toEqual([file, false]);
    const metrics = await readFile(join(work.folder, 'rows.out.prom'), 'utf8');
    expect(metrics).toContain('millrace_rows');
    expect(metrics).not.toContain(key);
  });

  it('stands nowhere in the report, the live page and the rows that it hands out', async () => {
    await work.write('rows.jsonl', echoJobs(60));
    await work.call('run', 'rows.jsonl', '--quiet');
    const report = await readFile(join(work.folder, 'rows.out/report.html'), 'utf8');
    const watch = await watchRun(join(work.folder, 'rows.out'), { parts: await pageParts() });
    const ask = async (path: string) => (await fetch(new URL(path, watch.url))).text();
    const live = await ask('/');
    const version = /"version":"(\w+)"/.exec(live)?.[1] ?? '';
    const rows = await ask(`/report/page-0001.js?${version}`);
    await watch.close();
    expect(rows).toContain('[redacted]');
    for (const text of [report, live, rows]) {
      expect(text).toContain('j1');
      expect(text.includes(key)).toBe(false);
    }
  });
});
