import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOtherServer, type OtherServer } from '../../support/other-server.js';
import { runFolder, type RunFolder } from '../../support/run-folder.js';

let server: OtherServer;
let folder: RunFolder;

beforeEach(async () => {
  server = await startOtherServer();
  folder = runFolder();
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

const edit = (id: string, more: object = {}) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt: id,
  ...more,
});

describe('runBatch', () => {
  it('completes edits, saves their pictures and writes every file', async () => {
    folder.manifest([edit('a'), edit('b', { resolution: '4k', note: 'mine' })]);
    const { exitCode, reason, summary } = await folder.run(server, { concurrency: 1 });
    expect(reason).toBe('2 rows completed.');
    expect(exitCode).toBe(0);
    expect(byRow(folder.lines('results.jsonl'))).toMatchObject([
      {
        id: 'a',
        row: 1,
        kind: 'edit',
        status: 'completed',
        cost: 0.0875,
        image: { path: 'images/a.png' },
        attempts: 1,
      },
      { id: 'b', row: 2, cost: 0.175, image: { path: 'images/b.png' }, columns: { note: 'mine' } },
    ]);
    expect(folder.text('failures.jsonl')).toBe('');
    expect(byRow(folder.costs())).toMatchObject([
      { id: 'a', attempt: '1', cost: '0.0875', source: 'reported' },
      { id: 'b', resolution: '4k', cost: '0.175' },
    ]);
    expect(summary).toMatchObject({
      rows: { total: 2, completed: 2, failed: 0, toDo: 0 },
      cost: { reported: 0.2625 },
    });
  });
});

describe('300 edits and 400 jobs of which some fail', () => {
  it('ends every row once, pays once, and its books are those of the service', async () => {
    server.behave = (row) => {
      const number = Number(row.split('-')[1]);
      if (row.startsWith('job')) return number % 17 === 0 ? 'fail' : 'complete';
      if (number % 23 === 0) return 'reject';
      return number % 31 === 0 ? 'lose-answer' : 'complete';
    };
    const resolutions = ['1k', '2k', '4k'];
    folder.manifest([
      ...Array.from({ length: 300 }, (_, index) =>
        edit(`edit-${index}`, { resolution: resolutions[index % 3] }),
      ),
      ...Array.from({ length: 400 }, (_, index) => ({
        id: `job-${index}`,
        endpoint: 'echo',
        input: { row: `job-${index}` },
      })),
    ]);
    const { exitCode, summary } = await folder.run(server, { concurrency: 16 });

    const results = folder.lines('results.jsonl');
    const failures = folder.lines('failures.jsonl') as { id: string; error: { code: string } }[];
    const ids = [...results, ...failures].map(({ id }) => id);
    expect(new Set(ids).size).toBe(700);
    expect(ids).toHaveLength(700);
    expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
    const unknown = failures.filter(({ error }) => error.code === 'unknown');
    expect(unknown).toHaveLength(9);
    expect(summary.failures).toEqual({ rejected: 14, unknown: 9, 'job-failed': 24 });

    const lines = folder.costs();
    const cents = (source: string): number =>
      Math.round(
        lines
          .filter((line) => line['source'] === source)
          .reduce((sum, line) => sum + Number(line['cost']), 0) * 1e6,
      );
    expect(cents('reported') + cents('unknown')).toBe(server.billed);
    expect(summary.cost.reported * 1e6).toBeCloseTo(cents('reported'), 0);
    expect(summary.cost.unknown * 1e6).toBeCloseTo(cents('unknown'), 0);

    expect(server.mostInFlight).toBeLessThanOrEqual(16);
    expect(exitCode).toBe(6);
    for (const [name, bytes] of folder.everything()) expect(bytes.includes(server.key), name).toBe(false);
  });
});

/** Pictures are saved outside the paid slots: rows end in any order. */
function byRow<T>(lines: T[]): T[] {
  const rowOf = (line: T) => Number((line as { row: unknown }).row);
  return [...lines].sort((a, b) => rowOf(a) - rowOf(b));
}
