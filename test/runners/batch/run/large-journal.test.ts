import { expect, it } from 'vitest';
import { readHeader } from '../../../../runners/batch/disk/sealed-file.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import { job } from '../../../support/manifest-rows.js';
import { paperRun } from '../../../support/paper-run.js';

const every = 64 << 20;

it('keeps a snapshot of a large journal while the run goes', { timeout: 60_000 }, async () => {
  const run = paperRun();
  const text = 'x'.repeat(9 << 20);
  run.manifest(Array.from({ length: 9 }, (_, at) => job(`row-${at}`, { input: { row: `row-${at}`, text } })));
  // Each row takes longer than a summary is apart from the next one.
  const end = await run.start({ concurrency: 1, schedule: pollFixed(6_000, run.scheduler) });
  expect(end.exitCode).toBe(0);
  const file = await run.disk.open('/job/out/.journal.snapshot', 'r');
  expect((await readHeader<{ end: number }>(file)).header.end).toBeGreaterThan(every);
  const journal = await openJournal(run.disk, '/job/out');
  expect(journal.recovered.totals.rows.get('completed')).toBe(9);
  await journal.close();
});
