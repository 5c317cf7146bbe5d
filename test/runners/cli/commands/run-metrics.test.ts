import parse from 'parse-prometheus-text-format';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { echoJobs, openRehearsal } from '../../../support/rehearsal.js';

it('tells in --metrics-file what the summary tells, and never the key', async () => {
  const { folder, write, call, json, emulator, close } = await openRehearsal();
  await write('rows.jsonl', [
    ...echoJobs(5),
    ...echoJobs(2, { fail: 'a-key-of-ours' }).map((line) => line.replace('"j', '"f')),
  ]);
  const { code } = await call('run', 'rows.jsonl', '--metrics-file', 'millrace.prom');
  expect(code).toBe(1);
  const text = await readFile(join(folder, 'millrace.prom'), 'utf8');
  const values = Object.fromEntries(
    parse(text).flatMap(({ name, metrics }) =>
      metrics.flatMap(({ labels, value }) =>
        value === undefined ? [] : [[`${name} ${Object.values(labels!).join(' ')}`, Number(value)]],
      ),
    ),
  );
  const out = join(folder, 'rows.out');
  const summary = await json('rows.out/summary.json');
  expect(values).toMatchObject({
    [`millrace_running ${out}`]: 0,
    [`millrace_exit_code ${out}`]: 1,
    [`millrace_rows ${out} completed`]: 5,
    [`millrace_rows ${out} job-failed`]: 2,
    [`millrace_rows ${out} to-do`]: 0,
    [`millrace_rows_in_flight ${out} sent`]: 0,
    [`millrace_status_calls_total ${out}`]: summary['statusCalls'],
  });
  expect(parse(text).find(({ name }) => name === 'millrace_row_seconds')!.metrics[0]!.buckets!['+Inf']).toBe(
    '7',
  );
  expect(text).not.toContain(emulator.apiKey);

  const nowhere = await call('run', 'rows.jsonl', '--out', 'other', '--metrics-file', 'none/millrace.prom');
  expect(nowhere.code).toBe(2);
  expect(nowhere.stderr).toContain('--metrics-file: ');
  await expect(stat(join(folder, 'other'))).rejects.toThrow('ENOENT');
  await close();
});
