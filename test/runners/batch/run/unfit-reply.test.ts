import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

/** JSON that no `JSON.stringify` on this stack can write again. */
function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function deepRun(depth: number): PaperRun {
  const run = paperRun();
  const body = `{"id":"job-deep-1","status":"COMPLETED","output":{"cost":0.0875,"deep":${nested(depth)}}}`;
  run.service.behave = (row) => (row === 'deep' ? { status: 200, body } : 'complete');
  run.manifest([edit('a'), edit('deep'), edit('c'), edit('d')]);
  return run;
}

describe('a reply that is nested too deep to be written', () => {
  it.each([5_000, 50_000])('ends its row as paid, and the others go on: %i levels', async (depth) => {
    const run = deepRun(depth);
    const end = await run.start({ concurrency: 2 });
    expect(end.exitCode).toBe(0);
    // The cost stands within the output, which is kept as text: the estimate is booked.
    const cost = { reported: 0.2625, estimated: 0.0875, unknown: 0 };
    expect(end.summary).toMatchObject({ rows: { completed: 4, toDo: 0 }, cost });
    expect(run.lines('results.jsonl').map(({ id }) => id)).toContain('deep');
    expect(run.costs()).toHaveLength(4);
  });

  it('leaves memory and journal agreed, so that the next start goes on', async () => {
    const run = deepRun(5_000);
    await run.start({ concurrency: 1, limit: 2 });
    const journal = await openJournal(run.disk, '/job/out');
    await journal.close();
    const { covers } = (await readStatus('/job/out', { disk: run.disk })).summary ?? {};
    expect(covers?.records).toBe(journal.recovered.records);
    const end = await run.start();
    expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 4 } } });
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
    expect(run.service.posts).toEqual(['a', 'c', 'd']);
  });
});
