import { tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  runBatch,
  type RunBatchOptions,
  runStages,
  type RunStages,
} from '../../../runners/batch/run-batch.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { edit } from '../../support/manifest-rows.js';
import { startOtherServer, type OtherServer } from '../../support/other-server.js';
import { finished, runFolder, type RunFolder } from '../../support/run-folder.js';

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

const none = () => Promise.resolve(undefined);

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

describe('120 edits and 160 jobs of which some fail', () => {
  it('ends every row once, pays once, and its books are those of the service', async () => {
    server.behave = (row) => {
      const number = Number(row.split('-')[1]);
      if (row.startsWith('job')) return number % 17 === 0 ? 'fail' : 'complete';
      if (number % 23 === 0) return 'reject';
      return number % 31 === 0 ? 'lose-answer' : 'complete';
    };
    const resolutions = ['1k', '2k', '4k'];
    folder.manifest([
      ...Array.from({ length: 120 }, (_, index) =>
        edit(`edit-${index}`, { resolution: resolutions[index % 3] }),
      ),
      ...Array.from({ length: 160 }, (_, index) => ({
        id: `job-${index}`,
        endpoint: 'echo',
        input: { row: `job-${index}` },
      })),
    ]);
    const { exitCode, summary } = await folder.run(server, {
      concurrency: 16,
      schedule: pollFixed(10),
      makeThumbnail: none,
    });

    const results = folder.lines('results.jsonl');
    const failures = folder.lines('failures.jsonl') as { id: string; error: { code: string } }[];
    const ids = [...results, ...failures].map(({ id }) => id);
    expect(new Set(ids).size).toBe(280);
    expect(ids).toHaveLength(280);
    expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
    const unknown = failures.filter(({ error }) => error.code === 'unknown');
    expect(unknown).toHaveLength(3);
    expect(summary.failures).toEqual({ rejected: 6, unknown: 3, 'job-failed': 10 });

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

describe('an option that is not what its type says, as a program without types gives it', () => {
  it.each([
    [{ manifest: 'edits.csv' }, 'manifest: is neither { path } nor { rows }'],
    [{ manifest: undefined }, 'manifest: is neither { path } nor { rows }'],
    [{ manifest: { path: new URL('file:///edits.csv') } }, 'manifest: is neither { path } nor { rows }'],
    [{ manifest: { rows: 5 } }, 'manifest: is neither { path } nor { rows }'],
    [{ manifest: { rows: '{"id":"a"}' } }, 'manifest: is neither { path } nor { rows }'],
    [{ baseUrl: new URL('http://127.0.0.1:1') }, 'baseUrl: '],
    [{ stop: new AbortController().signal }, 'stop: is not an Observable of stop orders'],
    [{ transport: {} }, 'transport: is not a function'],
    [{ scheduler: {} }, 'scheduler: is not a scheduler of rxjs'],
    [{ prices: {} }, 'prices: is not a price book'],
    [{ identity: 'x' }, 'identity: is not { baseUrl, lbBaseUrl, local }'],
    [{ maxCost: 5 }, 'maxCost: is not an option of runBatch: is maxCostUsd meant?'],
    [{ concurency: 5 }, 'concurency: is not an option of runBatch: is concurrency meant?'],
    [{ verbose: true }, 'verbose: is not an option of runBatch'],
  ])('%o ends the run with 2 before anything is sent', async (wrong, reason) => {
    folder.manifest([edit('a')]);
    const ended = await folder.run(server, wrong as unknown as Partial<RunBatchOptions>);
    expect([ended.exitCode, ended.reason]).toEqual([2, expect.stringContaining(reason)]);
    expect(server.requests).toEqual([]);
  });
});

/** Pictures are saved outside the paid slots: rows end in any order. */
function byRow<T>(lines: T[]): T[] {
  const rowOf = (line: T) => Number((line as { row: unknown }).row);
  return [...lines].sort((a, b) => rowOf(a) - rowOf(b));
}

describe('120 edits and 160 jobs of which some fail, none of them in doubt', () => {
  it('exits with 1, and a second start has nothing to do', { timeout: 60_000 }, async () => {
    server.behave = (row) =>
      Number(row.split('-')[1]) % 20 === 3 ? (row.startsWith('job') ? 'fail' : 'reject') : 'complete';
    const rows = [
      ...Array.from({ length: 120 }, (_, index) => edit(`edit-${index}`)),
      ...Array.from({ length: 160 }, (_, index) => ({
        id: `job-${index}`,
        endpoint: 'echo',
        input: { row: `job-${index}` },
      })),
    ];
    folder.manifest(rows);
    const { exitCode, summary } = await folder.run(server, {
      concurrency: 24,
      schedule: pollFixed(10),
      makeThumbnail: none,
    });
    expect(exitCode).toBe(1);
    expect(summary.rows).toEqual({ total: 280, completed: 266, failed: 14, toDo: 0 });
    expect(Math.round(summary.cost.reported * 1e6)).toBe(server.billed);
    expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
    expect(server.mostInFlight).toBeLessThanOrEqual(24);
    const sent = server.requests.length;
    expect((await folder.run(server)).exitCode).toBe(0);
    expect(server.requests).toHaveLength(sent);
  });
});

describe('the key', () => {
  it('is sent to the service alone, and stands nowhere, though the service says it back in every way', async () => {
    const printed = `you sent Bearer ${server.key}, that is ${encodeURIComponent(server.key)}`;
    server.behave = (row) => {
      if (row === 'a') return { status: 400, body: { error: printed, detail: printed } };
      if (row === 'b') return { status: 500, body: `<html>${printed}</html>` };
      if (row === 'c') return { output: { echo: printed, deep: [{ key: server.key }], cost: 0 } };
      if (row === 'd') return { status: 404, body: { message: printed } };
      return 'complete';
    };
    folder.manifest([
      ...['a', 'b', 'c', 'd'].map((row) => ({
        id: row,
        endpoint: row === 'd' ? 'gone' : 'echo',
        input: { row },
      })),
      edit('e'),
      { id: 'f', route: `/f` },
    ]);
    const { events } = await folder.run(server, { schedule: pollFixed(10), makeThumbnail: none });
    const reported = JSON.stringify(events);
    expect(reported).toContain('[redacted]');
    expect(reported).not.toContain(server.key);
    for (const [name, bytes] of folder.everything()) expect(bytes.includes(server.key), name).toBe(false);
    const pictures = server.requests.filter(({ path }) => path.startsWith('/pictures/'));
    expect(pictures.map(({ auth }) => auth)).toEqual([undefined]);
  });

  it('that is refused stops the run: nothing more is sent, exit 4', async () => {
    folder.manifest(Array.from({ length: 200 }, (_, index) => edit(`edit-${index}`)));
    const { exitCode, reason } = await folder.run(server, { apiKey: 'another-key-123', concurrency: 4 });
    expect(exitCode).toBe(4);
    expect(reason).toContain('key');
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(server.executions.size).toBe(0);
  });
});

describe('what a service may do on the way', () => {
  it('/runsync that gives up waiting is gone on with by polling [fault 14]', async () => {
    server.behave = () => 'give-up-waiting';
    folder.manifest([edit('a')]);
    expect((await folder.run(server, { schedule: pollFixed(10), makeThumbnail: none })).exitCode).toBe(0);
    expect(server.executions.get('a')).toBe(1);
    expect(folder.lines('results.jsonl')).toMatchObject([{ attempts: 1, image: { path: 'images/a.png' } }]);
  });

  it('ids that differ in case, and ids that are no file names, each have a picture of their own [fault 25]', async () => {
    const ids = ['Mug', 'mug', 'MUG', '../up', 'con', 'x'.repeat(200), '🖼️'];
    folder.manifest(ids.map((id) => edit(id)));
    expect((await folder.run(server, { makeThumbnail: none })).exitCode).toBe(0);
    const paths = folder.lines('results.jsonl').map(({ image }) => (image as { path: string }).path);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(ids.length);
    expect(paths.every((path) => /^images\/[\w.~-]+\.png$/.test(path))).toBe(true);
  });
});

describe('the stages of a run', () => {
  it('can be replaced', async () => {
    folder.manifest([edit('a'), edit('b')]);
    const seen: string[] = [];
    const stages: RunStages = {
      ...runStages,
      savePictures: (run) => (rows) =>
        rows.pipe(
          tap(({ row }) => seen.push(row.id)),
          runStages.savePictures(run),
        ),
    };
    const options = {
      manifest: { path: folder.manifest([edit('a'), edit('b')]) },
      out: folder.out,
      makeThumbnail: none,
    };
    const run = runBatch({ ...options, baseUrl: server.baseUrl, apiKey: server.key }, stages);
    expect((await finished(run)).exitCode).toBe(0);
    expect(seen.sort()).toEqual(['a', 'b']);
  });

  it('one run, however many listen; who comes late is told the end', async () => {
    const path = folder.manifest([edit('a')]);
    const run = runBatch({
      manifest: { path },
      out: folder.out,
      baseUrl: server.baseUrl,
      apiKey: server.key,
      makeThumbnail: none,
    });
    const both = await Promise.all([finished(run), finished(run)]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect((await finished(run)).exitCode).toBe(0);
    expect(server.executions.get('a')).toBe(1);
  });

  it('when the last one leaves, it stops gracefully', async () => {
    const path = folder.manifest(Array.from({ length: 50 }, (_, index) => edit(`edit-${index}`)));
    const options = {
      manifest: { path },
      out: folder.out,
      baseUrl: server.baseUrl,
      apiKey: server.key,
      makeThumbnail: none,
    };
    for await (const event of runBatch({ ...options, concurrency: 2 })) if (event.type === 'ended') break;
    let end = await folder.run(server, { makeThumbnail: none });
    while (end.exitCode === 75) end = await folder.run(server, { makeThumbnail: none });
    expect(end.exitCode).toBe(0);
    expect(server.executions.size).toBe(50);
    expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
  });
});
