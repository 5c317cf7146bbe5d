import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, expect, describe, it } from 'vitest';
import { keepMetricsFile, type MetricsFile } from '../../../../runners/cli/progress/keep-metrics-file.js';
import { until } from '../../../support/until.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

describe('keepMetricsFile', () => {
  let work: Workplace;
  let scheduler: VirtualTimeScheduler;
  let warnings: string[];
  beforeEach(async () => {
    work = await openWorkplace();
    scheduler = new VirtualTimeScheduler();
    warnings = [];
  });
  afterEach(() => work.remove());

  const path = () => join(work.folder, 'millrace.prom');
  const text = () => readFile(path(), 'utf8');
  const open = (): Promise<MetricsFile> =>
    keepMetricsFile({
      path: path(),
      out: join(work.folder, 'out'),
      concurrency: 3,
      warn: (why) => warnings.push(why),
      scheduler,
    });
  const pass = (ms: number) => {
    scheduler.maxFrames = scheduler.now() + ms;
    scheduler.flush();
  };

  it('writes it at once, every ten seconds and at the end', async () => {
    const file = await open();
    expect(await text()).toContain('} 1\n');
    await rm(path());
    file.take({ type: 'concurrency', rows: 77 });
    pass(10_000);
    await until(() =>
      text().then(
        (now) => now.includes('millrace_concurrency'),
        () => false,
      ),
    );
    expect(await text()).toMatch(/^millrace_concurrency\{.*\} 77$/m);
    await file.close();
    expect(await text()).toMatch(/^millrace_running\{.*\} 0$/m);
    expect([...(await work.everything('.')).keys()]).toEqual([path()]);
  });

  it('leaves the file to the process that holds the run', async () => {
    const file = await open();
    const before = await text();
    file.take({ type: 'finished', exitCode: 75, reason: '' });
    await file.close();
    expect(await text()).toBe(before);
  });

  it('refuses a place where nothing can be written, and warns once of one that is lost', async () => {
    const file = await open();
    await work.remove();
    pass(30_000);
    await file.close();
    expect(warnings).toEqual([`${path()} could not be written (ENOENT): the metrics are no longer updated`]);
    await expect(open()).rejects.toThrow('cannot be written (ENOENT): nothing was sent');
  });
});
