import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { runFolder, type Finished, type RunFolder } from '../../../support/run-folder.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

let run: SharedRun;
let local: RunFolder;
beforeEach(async () => {
  run = await openSharedRun(database);
  local = runFolder();
  await run.work();
});
afterEach(async () => {
  local.remove();
  await run.close();
});

const job = (id: string, input: object = {}) => ({ id, endpoint: 'echo', input });

/** The same start over the database and without one; how both ended, and what their files say. */
async function both(rows: readonly object[], options: Partial<RunBatchOptions> = {}) {
  const given = { assumePriceUsd: 0.01, concurrency: 1, ...options };
  run.folder.manifest(rows);
  local.manifest(rows);
  const { apiKey: key, baseUrl, lbBaseUrl } = run.emulator;
  const there = await run.collect(given);
  const here = await local.run({ key, baseUrl, lbBaseUrl }, given);
  return { there: reported(run.folder, there), here: reported(local, here) };
}

function reported(folder: RunFolder, { exitCode, reason, summary }: Finished) {
  const lines = (name: string) =>
    folder
      .lines(name)
      .map(({ id, row, attempts, output, error }) =>
        JSON.stringify({ id, row, attempts, output, code: (error as { code?: string } | undefined)?.code }),
      )
      .sort();
  return {
    exitCode,
    reason,
    rows: summary.rows,
    cost: summary.cost,
    failures: summary.failures,
    results: lines('results.jsonl'),
    failed: lines('failures.jsonl'),
    earlier: lines('earlier.jsonl'),
    costs: folder
      .costs()
      .map(({ id, attempt, cost, source }) => [id, attempt, cost, source].join(' '))
      .sort(),
  };
}

describe('a start over a database ends as a local one', () => {
  it('with --only, then --changed redo', async () => {
    const rows = [job('a', { n: 1 }), job('b', { n: 1 }), job('c', { n: 1 })];
    const first = await both(rows, { only: ['a', 'c'] });
    expect(first.there).toEqual(first.here);
    expect(first.there).toMatchObject({ exitCode: 0, rows: { completed: 2, toDo: 1 } });
    const changed = [job('a', { n: 2 }), ...rows.slice(1)];
    const redone = await both(changed, { changed: 'redo', only: ['a'] });
    expect(redone.there).toEqual(redone.here);
    expect(redone.there.earlier).toHaveLength(1);
    expect(redone.there.costs).toEqual(['a 1 0.01 estimated', 'a 2 0.01 estimated', 'c 1 0.01 estimated']);
    const rest = await both(changed);
    expect(rest.there).toEqual(rest.here);
    expect(rest.there).toMatchObject({ exitCode: 0, rows: { completed: 3, toDo: 0 } });
  });

  it('with --halt 2: nothing is sent behind what is on its way', async () => {
    const rows = Array.from({ length: 12 }, (_, n) =>
      job(`r${n}`, n < 4 ? { fail: 'as asked' } : { sleepMs: 100 }),
    );
    const { there, here } = await both(rows, { halt: { count: 2 } });
    expect([there.exitCode, here.exitCode]).toEqual([5, 5]);
    const ended = (found: typeof there) => found.failed.length + found.results.length;
    expect(there.failed.length).toBeGreaterThanOrEqual(2);
    expect(ended(there)).toBeLessThan(12);
    expect(there.rows.toDo).toBe(12 - ended(there));
    expect(there.failures).toEqual({ 'job-failed': there.failed.length });
    const rest = await run.collect({ assumePriceUsd: 0.01, concurrency: 8 });
    // Those that had been sent when it stopped have failed already.
    expect([rest.exitCode, rest.summary.rows.toDo]).toEqual([there.failed.length < 4 ? 1 : 0, 0]);
    expect(run.folder.lines('results.jsonl')).toHaveLength(8);
  });
});
