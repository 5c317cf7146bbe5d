import { describe, expect, it } from 'vitest';
import { createPriceBook, type PriceBook } from '../../../../runners/batch/ledger/price-book.js';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const ids = ['a', 'b', 'c', 'd'];
const rows = ids.map((id) => job(id));
const failing = 'no';
const kept = '/job/out/.manifest.checked';

/** A run whose rows have all ended, and whose second start has kept what it found. */
async function ended(given: readonly object[] = rows): Promise<PaperRun> {
  const run = paperRun();
  run.manifest(given);
  run.service.behave = (row) => (row === failing ? 'fail' : 'complete');
  await run.start();
  expect(run.disk.peek(kept)).toBeUndefined();
  await run.start();
  expect(run.disk.peek(kept)).toBeDefined();
  return run;
}

/** A start, and how many rows of the manifest it took apart: each is priced. */
async function started(
  run: PaperRun,
  options: Partial<RunBatchOptions> = {},
): Promise<PaperEnd & { readonly looked: number; readonly sent: string[] }> {
  let looked = 0;
  const book = createPriceBook();
  const priceOf: PriceBook['priceOf'] = (row) => {
    looked++;
    return book.priceOf(row);
  };
  const before = run.service.posts.length;
  const end = await run.start({ prices: { ...book, priceOf }, ...options });
  return { ...end, looked, sent: run.service.posts.slice(before) };
}

const reported = ({ events }: PaperEnd) =>
  events.filter(({ type }) => type === 'checked' || type === 'warning' || type === 'started');

describe('a start over rows that have all ended', () => {
  it('takes none of them apart a third time, and says the same', async () => {
    const run = await ended([...rows, job('e', { input: { row: 'e' }, own: 'mine' })]);
    const bare = await started(run, { add: true });
    expect(bare).toMatchObject({ looked: 0, sent: [], exitCode: 0 });
    await run.disk.unlink(kept);
    const whole = await started(run, { add: true });
    expect(whole).toMatchObject({ looked: 5, sent: [], exitCode: 0 });
    expect(reported(bare)).toEqual(reported(whole));
    expect(bare.summary.rows).toEqual(whole.summary.rows);
  });

  it('goes on doing so after many starts', async () => {
    const run = await ended();
    for (let start = 0; start < 5; start++) expect((await started(run)).looked).toBe(0);
  });

  it('looks at a row that was appended, and sends it', async () => {
    const run = await ended();
    run.manifest([...rows, job('e')]);
    expect(await started(run)).toMatchObject({ sent: ['e'] });
  });

  it('looks at all of a manifest of the same length in which one letter is another', async () => {
    const run = await ended();
    run.manifest([...rows.slice(0, 3), { ...job('d'), input: { row: 'D' } }]);
    const end = await started(run);
    expect(end.looked).toBe(4);
    expect(reported(end)[0]).toMatchObject({ ahead: { changed: { count: 1, ids: ['d'] } } });
    expect(await started(run, { changed: 'redo' })).toMatchObject({ sent: ['D'] });
  });

  it.each<[string, Partial<RunBatchOptions>]>([
    ['only some of its rows', { only: ['a'] }],
    ['a number of its rows', { limit: 2 }],
    ['rows that have changed', { changed: 'redo' }],
    ['rows by other settings', { manifest: { path: '/job/manifest.jsonl', mode: 'sync' } }],
  ])('reads it row by row where a start has to do with %s', async (_, options) => {
    const run = await ended();
    expect(await started(run, options)).toMatchObject({ looked: 4, sent: [] });
  });

  it('reads it row by row where rows are to be taken up again', async () => {
    const run = await ended([...rows, job('e', { input: { row: failing } })]);
    expect((await started(run)).looked).toBe(0);
    expect(await started(run, { retry: ['failed'] })).toMatchObject({ sent: [failing] });
  });

  it('reads it row by row where costs are kept by the values of a column', async () => {
    const run = paperRun();
    run.manifest(ids.map((id) => job(id, { customer: 'x' })));
    const options = { maxCostByUsd: { customer: 5 }, assumePriceUsd: 0.1 };
    for (let start = 0; start < 4; start++) expect((await run.start(options)).exitCode).toBe(0);
    expect(await started(run, options)).toMatchObject({ exitCode: 0, looked: 4, sent: [] });
  });

  it('reads it row by row where the file was damaged', async () => {
    const run = await ended();
    const text = run.disk.peek(kept)?.toString() ?? '';
    run.disk.plant(kept, text.replace('"ended":4', '"ended":3'));
    expect((await started(run)).looked).toBe(4);
  });

  it('sends what an older journal does not know, though the manifest is the same', async () => {
    const run = paperRun();
    run.manifest(rows);
    await run.start({ only: ['a'] });
    const older = run.disk.peek('/job/out/journal.jsonl') ?? Buffer.alloc(0);
    await run.start();
    await run.start();
    expect((await started(run)).looked).toBe(0);
    for (const name of ['results.jsonl', 'results.csv', 'costs.csv', 'failures.jsonl', 'summary.json'])
      if (run.disk.peek(`/job/out/${name}`)) await run.disk.unlink(`/job/out/${name}`);
    run.disk.plant('/job/out/journal.jsonl', older);
    expect((await started(run)).sent).toEqual(['b', 'c', 'd']);
  });

  it('reads it row by row where the journal has gone another way since, with as many rows and records', async () => {
    const run = await ended();
    const lines = run.text('journal.jsonl');
    const check = run.disk.peek(kept) as Buffer;
    const other = await ended(['w', 'x', 'y', 'z'].map((id) => job(id)));
    other.disk.plant(kept, check);
    other.manifest(rows);
    expect(other.text('journal.jsonl').split('\n').length).toBe(lines.split('\n').length);
    expect((await started(other, { add: true })).sent).toEqual(ids);
  });
});
