import { beforeEach, describe, expect, it } from 'vitest';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

/** Edits of $0.0875 each; the prompt is the id. */
const edit = (id: string, priority?: number, more: object = {}) => ({
  id,
  prompt: id,
  endpoint: 'image-edit',
  images: ['https://pictures.test/a.png'],
  ...(priority !== undefined && { priority }),
  ...more,
});
const rows = [edit('a'), edit('b', 2), edit('c', -1), edit('d', 2), edit('e', 1), edit('f')];
const inOrder = ['b', 'd', 'e', 'a', 'f', 'c'];

describe('rows with a priority', () => {
  let run: PaperRun;
  beforeEach(() => {
    run = paperRun();
    run.manifest(rows);
  });
  const start = (options: Partial<RunBatchOptions> = {}) =>
    run.start({ concurrency: 1, download: false, ...options });
  const posts = () => run.service.posts.splice(0);

  it('are sent by it, those of the same in the order of the manifest', async () => {
    const { exitCode, summary } = await start();
    expect([exitCode, summary.rows.completed]).toEqual([0, 6]);
    expect(posts()).toEqual(inOrder);
    expect(run.lines('results.jsonl')[0]).toMatchObject({ id: 'b', row: 2, columns: { priority: 2 } });
  });

  it('are those that --limit takes first, and at the next start the next ones', async () => {
    const { events } = await start({ limit: 2 });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'checked', ahead: expect.objectContaining({ toSend: 2, later: 4 }) }),
    );
    expect(posts()).toEqual(['b', 'd']);
    await start({ limit: 3 });
    expect(posts()).toEqual(['e', 'a', 'f']);
  });

  it('are priced and bought by it under a cap', async () => {
    const { events, exitCode } = await start({ maxCostUsd: 0.3 });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'checked',
        ahead: expect.objectContaining({ toSend: 6, fits: { rows: 3, estimated: 262_500 } }),
      }),
    );
    expect(exitCode).toBe(3);
    expect(posts()).toEqual(['b', 'd', 'e']);
    await start({ maxCostUsd: null });
    expect(posts()).toEqual(['a', 'f', 'c']);
  });

  it('are bought by it under the cap of a value', async () => {
    run.manifest(rows.map((row, at) => ({ ...row, customer: at < 3 ? 'x' : 'y' })));
    const { events } = await start({ maxCostByUsd: { customer: 0.1 } });
    const checked = events.find((event) => event.type === 'checked');
    expect(checked).toMatchObject({ ahead: { fits: { rows: 2 } } });
    expect(posts()).toEqual(['b', 'd']);
  });

  it('keep it when they are tried again', async () => {
    run.service.behave = (row, nth) => (nth === 1 && 'cd'.includes(row) ? 'reject' : 'complete');
    await start();
    posts();
    await start({ retry: ['failed'] });
    expect(posts()).toEqual(['d', 'c']);
  });

  it('keep it when they are redone, also those that fit under a cap', async () => {
    await start();
    posts();
    run.manifest(rows.map((row) => ({ ...row, aspect_ratio: '1:1' })));
    const { events } = await start({ changed: 'redo', maxCostUsd: 6 * 0.0875 + 0.2 });
    expect(events.find((event) => event.type === 'checked')).toMatchObject({ ahead: { fits: { rows: 2 } } });
    expect(posts()).toEqual(['b', 'd']);
    expect(run.lines('results.jsonl')).toHaveLength(6);
  });

  it('are taken by it among those of --only', async () => {
    await start({ only: ['a', 'e', 'c'], limit: 2 });
    expect(posts()).toEqual(['e', 'a']);
  });

  it('have no effect as a column that is ignored, and change nothing of a row that was bought', async () => {
    await start({ manifest: { path: '/job/manifest.jsonl', ignore: ['priority'] }, limit: 2 });
    expect(posts()).toEqual(['a', 'b']);
    run.manifest(rows.map((row) => ({ ...row, priority: 7 })));
    const { summary } = await start();
    expect(posts()).toEqual(['c', 'd', 'e', 'f']);
    expect(summary.rows).toMatchObject({ completed: 6 });
  });

  it('are invalid without a number, and come with those that have none', async () => {
    run.manifest([edit('a', 1), { ...edit('b'), priority: 'high' }, edit('c', -1), edit('d', 5)]);
    expect((await start()).exitCode).toBe(2);
    expect(posts()).toEqual([]);
    const { exitCode } = await start({ skipInvalid: true });
    expect(exitCode).toBe(1);
    expect(posts()).toEqual(['d', 'a', 'c']);
    expect(run.lines('failures.jsonl')).toEqual([
      expect.objectContaining({
        id: 'b',
        priority: 'high',
        error: expect.objectContaining({ code: 'invalid-row' }),
      }),
    ]);
  });

  it('come from a CSV whose rows are multiplied', async () => {
    run.manifest(
      ['id,images,priority', 'a,https://pictures.test/a.png,', 'b,https://pictures.test/b.png,3'].join('\n'),
    );
    await start({
      manifest: {
        path: '/job/manifest.csv',
        endpoint: 'image-edit',
        set: { prompt: '{{id}} in {{style}}' },
        each: { style: ['oil', 'ink'] },
      },
    });
    expect(posts()).toEqual(['b in oil', 'b in ink', 'a in oil', 'a in ink']);
  });
});
