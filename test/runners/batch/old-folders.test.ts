import { describe, expect, it } from 'vitest';
import { editFieldNames } from '../../../runners/batch/manifest/columns/manifest-fields.js';
import { readStatus } from '../../../runners/batch/read-status.js';
import { refetch } from '../../../runners/batch/refetch.js';
import { settleRow } from '../../../runners/batch/settle-row.js';
import { writeReport } from '../../../runners/report/write-report.js';
import { oldRuns, openOldRun, saveOnePixel, type OldRun } from '../../support/old-run.js';
import { pageParts } from '../../support/page-parts.js';
import { finished, type Finished } from '../../support/run-folder.js';

const parts = await pageParts();

/** Job ids that the journals of 0.1.0 hold without an end. */
const accepted = ['job-28', 'job-29', 'job-36', 'job-37', 'job-99'];

const counts: Record<(typeof oldRuns)[number], { completed: number; failed: number; toDo: number }> = {
  finished: { completed: 5, failed: 2, toDo: 0 },
  killed: { completed: 2, failed: 1, toDo: 8 },
  // Its process died before the first summary.json: only the rows that its journal knows are counted.
  'killed-early': { completed: 2, failed: 1, toDo: 5 },
  held: { completed: 1, failed: 3, toDo: 0 },
  settled: { completed: 1, failed: 1, toDo: 2 },
  redone: { completed: 3, failed: 1, toDo: 0 },
  snapshot: { completed: 3, failed: 1, toDo: 0 },
  capped: { completed: 2, failed: 0, toDo: 2 },
};

const kept = ['results.jsonl', 'failures.jsonl', 'costs.csv', 'earlier.jsonl', 'results.csv', 'failures.csv'];

function filesOf(run: OldRun): string[] {
  return kept.map((name) => run.text(name));
}

/** The files when a start has added the columns that 0.1.0 did not know: at the end of results.csv, and empty. */
function withNewColumns(files: readonly string[]): string[] {
  return files.map((text, at) => {
    const [head = '', ...rows] = text.trimEnd().split('\n');
    const added = editFieldNames.filter((name) => !head.split(',').includes(name));
    if (kept[at] !== 'results.csv' || head === '' || added.length === 0) return text;
    return [[head, ...added].join(','), ...rows.map((row) => row + ','.repeat(added.length)), ''].join('\n');
  });
}

function warnings({ events }: Finished): unknown[] {
  return events.filter(({ type }) => type === 'warning');
}

describe('a folder that 0.1.0 wrote', () => {
  it.each(oldRuns)('stands where it stood: %s', async (name) => {
    await using run = await openOldRun(name);
    const { rows } = await readStatus(run.out);
    expect(rows).toMatchObject(counts[name]);
    const before = filesOf(run);
    await writeReport(run.out, { parts });
    expect(filesOf(run)).toEqual(before);
    expect(run.text('report.html')).toContain('<html');
  });

  it.each(['finished', 'held'])('buys nothing more where all is done: %s', async (name) => {
    await using run = await openOldRun(name);
    const before = filesOf(run);
    const end = await run.run({ changed: 'redo' });
    expect(run.sent()).toEqual([]);
    expect([0, 6]).toContain(end.exitCode);
    expect(filesOf(run)).toEqual(withNewColumns(before));
    expect(end.summary.rows).toMatchObject(counts[name as 'finished']);
  });

  it.each(['redone', 'snapshot'])(
    'buys nothing more where all is done, and has the paid result of a redo that failed in its results again: %s',
    async (name) => {
      await using run = await openOldRun(name);
      const [results = '', failures, costs, earlier = '', ...sheets] = filesOf(run);
      const back = earlier.split('\n').find((line) => line.includes('"jobId":"sync-job-45"')) ?? '';
      const end = await run.run({ changed: 'redo' });
      expect(run.sent()).toEqual([]);
      expect(end.summary.rows).toMatchObject(counts[name as 'redone']);
      const now = [`${results}${back}\n`, failures, costs, earlier.replace(`${back}\n`, ''), ...sheets];
      expect(filesOf(run)).toEqual(now);
      await run.run({ changed: 'redo' });
      expect(filesOf(run)).toEqual(now);
    },
  );

  it.each(['killed', 'killed-early'])(
    'goes on where it was killed, and buys nothing twice: %s',
    async (name) => {
      await using run = await openOldRun(name, accepted);
      const end = await run.run();
      expect(run.sent().sort()).toEqual(['hello', 'the bowl', 'the bowl again']);
      expect(end.exitCode).toBe(6);
      expect(end.summary.rows).toMatchObject({ completed: 8, failed: 3, toDo: 0 });
      expect(end.summary.failures).toEqual({ unknown: 2, rejected: 1 });
      expect((await readStatus(run.out)).held).toEqual(['sent-1', 'sent-2']);
      expect(run.lines('results.jsonl').map(({ id, jobId }) => `${String(id)} ${String(jobId)}`)).toContain(
        name === 'killed' ? 'polled-1 job-28' : 'polled-1 job-36',
      );
    },
  );

  it('is refused by 0.1.0 from then on, which would judge by its own rules what has changed', async () => {
    await using run = await openOldRun('killed', accepted);
    const formats = (): unknown[] =>
      run.lines('journal.jsonl').flatMap(({ k, format }) => (k === 'start' ? [format] : []));
    const before = formats();
    expect(new Set(before)).toEqual(new Set([1]));
    await run.run();
    // 0.1.0 reads up to 1.
    expect(formats()).toEqual([...before, 3]);
  });

  it('sends and polls what a person settled, and no other row', async () => {
    await using run = await openOldRun('settled', accepted);
    const end = await run.run();
    expect(run.sent()).toEqual(['lose it too']);
    expect(end.exitCode).toBe(0);
    expect(end.summary.failures).toEqual({ expired: 1 });
    expect(end.summary.cost).toMatchObject({ reported: 0.305, unknown: 0 });
  });

  it('goes on beyond its cap with a higher one', async () => {
    await using run = await openOldRun('capped');
    const end = await run.run({ maxCostUsd: 5 });
    expect(run.sent()).toEqual(['the vase', 'the bowl']);
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.35 } } });
    expect(warnings(end)).toEqual([]);
  });

  it('lets held rows be settled', async () => {
    await using run = await openOldRun('held', accepted);
    await settleRow(run.out, 'lost-1', { paidUsd: 0.0875 });
    await settleRow(run.out, 'lost-2', { notSent: true });
    await settleRow(run.out, 'lost-3', { jobId: 'job-99' });
    expect(await run.run()).toMatchObject({ exitCode: 0, summary: { rows: { completed: 3, failed: 1 } } });
    expect(run.sent()).toEqual(['lose it too']);
  });

  it('lets a picture that is paid be fetched', async () => {
    await using run = await openOldRun('killed');
    const end = await finished(refetch(run.out, { saveFrom: saveOnePixel }));
    expect(end.exitCode).toBe(0);
    expect(run.lines('results.jsonl').map(({ id }) => id)).toContain('replied-1');
  });

  it('goes on after a reply that 0.1.0 could not write, though it counted it', async () => {
    await using run = await openOldRun('deep', ['job-203', 'job-204']);
    const end = await run.run();
    expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 5, failed: 0, toDo: 0 } } });
    expect(run.sent()).toEqual(['the bowl']);
    expect(warnings(end)).toEqual([]);
  });
});
