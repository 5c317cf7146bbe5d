import { expect, it } from 'vitest';
import { readHeader } from '../../../../runners/batch/disk/sealed-file.js';
import { bytesASnapshot } from '../../../../runners/batch/journal/journal-snapshot.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import { job } from '../../../support/manifest-rows.js';
import { paperRun } from '../../../support/paper-run.js';

it('keeps a snapshot of a large journal while the run goes', { timeout: 180_000 }, async () => {
  const run = paperRun();
  const text = 'x'.repeat(4 << 20);
  run.manifest(Array.from({ length: 5 }, (_, at) => job(`row-${at}`, { input: { row: `row-${at}`, text } })));
  // Each row takes longer than a summary is apart from the next one.
  const end = await run.start({ concurrency: 1, schedule: pollFixed(6_000, run.scheduler) });
  expect(end.exitCode).toBe(0);
  const file = await run.disk.open('/job/out/.journal.snapshot', 'r');
  expect((await readHeader<{ end: number }>(file)).header.end).toBeGreaterThan(bytesASnapshot);
  const journal = await openJournal(run.disk, '/job/out');
  expect(journal.recovered.totals.rows.get('completed')).toBe(5);
  await journal.close();
});
