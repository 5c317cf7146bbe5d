import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { openSealed, sealed } from '../../../../runners/batch/disk/sealed-file.js';
import { createPriceBook, type PriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';
import type { CheckAhead } from '../../../../runners/batch/context/resolved-options.js';
import { runBatch, runStages, type RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { resolveOptions } from '../../../../runners/batch/start/resolve-options.js';
import { keepManifest } from '../../../../runners/batch/start/check/keep-manifest.js';
import { collect } from '../../../support/collect.js';
import { job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const ids = ['a', 'b', 'c', 'd'];
const rows = ids.map((id) => job(id));
const failing = 'no';
const kept = '/job/out/.manifest.checked';

/** A run whose rows have all ended. */
async function ended(given: readonly object[] | string = rows): Promise<PaperRun> {
  return begun(given, {});
}

/** A run of which a start has done a part. */
async function begun(
  given: readonly object[] | string,
  options: Partial<RunBatchOptions>,
): Promise<PaperRun> {
  const run = paperRun();
  run.manifest(given);
  run.service.behave = (row) => (row === failing ? 'fail' : 'complete');
  await run.start(options);
  expect(run.disk.peek(kept)).toBeDefined();
  return run;
}

/** A start, and which rows of the manifest it took apart: each is priced. */
async function started(
  run: PaperRun,
  options: Partial<RunBatchOptions> = {},
  book = createPriceBook(),
  stages = runStages,
): Promise<PaperEnd & { readonly looked: number; readonly sent: string[] }> {
  const looked = new Set<unknown>();
  const priceOf: PriceBook['priceOf'] = (row) => {
    if ('line' in row) looked.add(row.line);
    return book.priceOf(row);
  };
  const before = run.service.posts.length;
  const start = runBatch(run.options({ prices: { ...book, priceOf }, ...options }), stages);
  const end = await run.follow(start);
  return { ...end, looked: looked.size, sent: run.service.posts.slice(before) };
}

const reported = ({ events }: PaperEnd) =>
  events.filter(({ type }) => type === 'checked' || type === 'warning' || type === 'started');

/** Absent where a start was refused. */
const rowsOf = ({ events }: PaperEnd) =>
  events.map((event) => (event.type === 'finished' ? event.summary?.rows : undefined));

/** What is done beside the journal, by a thread in the command line. */
const checkAhead: CheckAhead = async ({ disk, out, manifest: { path, settings } }, _, held) => {
  await held;
  await keepManifest(disk, { out, path, settings }).catch(() => undefined);
};

/** What a start does with what is kept, without it, and with what is kept beside its journal. */
async function both(
  make: () => Promise<PaperRun>,
  change: (run: PaperRun) => void = () => undefined,
  options: Partial<RunBatchOptions> = {},
) {
  const [one, other, third] = [await make(), await make(), await make()];
  for (const run of [one, other, third]) change(run);
  for (const run of [other, third]) if (run.disk.peek(kept)) await run.disk.unlink(kept);
  const [bare, whole] = [await started(one, options), await started(other, options)];
  const ahead = await started(third, options, undefined, { ...runStages, checkAhead });
  for (const [run, end] of [
    [one, bare],
    [third, ahead],
  ] as const) {
    expect(reported(end)).toEqual(reported(whole));
    expect(end.sent).toEqual(whole.sent);
    expect([end.exitCode, end.reason]).toEqual([whole.exitCode, whole.reason]);
    expect(rowsOf(end)).toEqual(rowsOf(whole));
    expect(run.text('journal.jsonl')).toBe(other.text('journal.jsonl'));
  }
  return { bare, whole, ahead };
}

describe('a start over rows that have all ended', () => {
  it('takes none of them apart again, and says the same', async () => {
    const given = [...rows, job('e', { input: { row: 'e' }, own: 'mine' })];
    const { bare, whole, ahead } = await both(() => ended(given), undefined, { add: true });
    expect(bare).toMatchObject({ looked: 0, sent: [], exitCode: 0 });
    expect(ahead).toMatchObject({ looked: 0, sent: [], exitCode: 0 });
    expect(whole).toMatchObject({ looked: 5, sent: [], exitCode: 0 });
  });

  it('takes the rows of axes for ended, and sees a value that is added and one that is gone', async () => {
    const by = (...values: string[]) => ({
      manifest: { path: '/job/manifest.jsonl', each: { 'input.style': values } },
    });
    const make = () => begun(rows, by('oil', 'ink'));
    const same = await both(make, undefined, by('oil', 'ink'));
    expect([same.bare.looked, same.whole.looked, same.bare.sent]).toEqual([0, 4, []]);
    const more = await both(make, undefined, by('oil', 'ink', 'wax'));
    expect(more.bare.sent).toHaveLength(4);
    expect(reported(more.bare)[0]).toMatchObject({
      ahead: { axes: { axes: [{ name: 'input.style', added: ['wax'], gone: [] }] } },
    });
    const less = await both(make, undefined, by('ink'));
    expect(less.bare.sent).toEqual([]);
    expect(reported(less.bare)[0]).toMatchObject({
      ahead: { gone: 4, axes: { axes: [{ name: 'input.style', added: [], gone: ['oil'] }] } },
    });
  });

  it.each([
    ['JSON lines', [...rows, job('E')]],
    ['CSV', 'id;endpoint;input.row;note\na;echo;a;\nB;echo;a;"x\ny"\n'],
  ])('keeps beside the journal, byte by byte, what a start keeps: %s', async (_, given) => {
    const run = await ended(given);
    const whole = run.disk.peek(kept) as Buffer;
    await run.disk.unlink(kept);
    await checkAhead(resolveOptions(run.options()), new AbortController().signal, Promise.resolve());
    expect(run.disk.peek(kept)).toEqual(whole);
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

  it('says the same where a row was bought as another manifest has it', async () => {
    const make = async () => {
      const run = await begun(rows, { limit: 3 });
      const check = run.disk.peek(kept) as Buffer;
      run.manifest([...rows.slice(0, 3), job('d', { input: { row: 'D' } })]);
      await run.start();
      run.manifest(rows);
      run.disk.plant(kept, check);
      return run;
    };
    const { bare } = await both(make);
    expect(reported(bare)[0]).toMatchObject({ ahead: { changed: { count: 1, ids: ['d'] } } });
    expect((await both(make, undefined, { changed: 'redo' })).bare.sent).toEqual(['d']);
  });

  it.each<[string, Partial<RunBatchOptions>]>([
    ['only some of its rows', { only: ['a'] }],
    ['rows by other settings', { manifest: { path: '/job/manifest.jsonl', mode: 'sync' } }],
  ])('reads it row by row where a start has to do with %s', async (_, options) => {
    const run = await ended();
    expect(await started(run, options)).toMatchObject({ looked: 4, sent: [] });
  });

  it('finds the rows that are to be taken up again', async () => {
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

  it('is read row by row by another version', async () => {
    const run = await ended();
    const content = run.disk.peek(kept) as Buffer;
    const file = await run.disk.open(kept, 'r');
    const whole = await openSealed<{ made: string; rows: { length: number } }>(file);
    const body = Buffer.alloc(12 * (whole?.header.rows.length ?? 0));
    await whole?.fill(body);
    const sealedAs = async (made: string) =>
      Buffer.concat(await collect(sealed({ ...whole?.header, made }, [body])));
    expect(await sealedAs(whole?.header.made ?? '')).toEqual(content);
    run.disk.plant(kept, await sealedAs('{"format":2,"version":"0.0.1"}'));
    expect((await started(run)).looked).toBe(4);
  });

  it('is priced by the prices of this start', async () => {
    const run = await ended();
    const priced = async (usdPerJob: number) => {
      const end = await started(
        run,
        {},
        createPriceBook(toPriceList({ endpoints: { echo: { usdPerJob } } })),
      );
      expect(end.looked).toBe(0);
      return reported(end)[0];
    };
    expect(await priced(2)).toMatchObject({ plan: { cost: { estimated: 8_000_000, unpriced: 0 } } });
    expect(await priced(3)).toMatchObject({ plan: { cost: { estimated: 12_000_000, unpriced: 0 } } });
  });

  it('is read row by row under other prices where each axis has a price of its own', async () => {
    const manifest = {
      path: '/job/manifest.jsonl',
      each: { style: ['x', 'y'] },
      set: { 'input.style': '{{style}}' },
    };
    const run = await begun(rows, { manifest });
    const book = (usdPerJob: number) => createPriceBook(toPriceList({ endpoints: { echo: { usdPerJob } } }));
    expect((await started(run, { manifest }, book(2))).looked).toBe(4);
    expect((await started(run, { manifest }, book(2))).looked).toBe(0);
    expect((await started(run, { manifest }, book(3))).looked).toBe(4);
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

  it('sends what the journal of another run does not know', async () => {
    const run = await ended();
    const other = await ended(['w', 'x', 'y', 'z'].map((id) => job(id)));
    other.disk.plant(kept, run.disk.peek(kept) as Buffer);
    other.manifest(rows);
    expect((await started(other, { add: true })).sent).toEqual(ids);
  });
});

const many = Array.from({ length: 60 }, (_, at) => ({ ...job(`row-${at}`), note: 'x'.repeat(at % 7) }));
const asCsv = `id,endpoint,input.row,note\n${many.map(({ id, input, note }) => `${id},echo,${input.row},"${note}\n${note}"\n`).join('')}`;

describe('a start over rows of which some have ended', () => {
  it.each([
    ['JSON lines', many],
    ['CSV', asCsv],
  ])('takes only those apart that it may have to do with: %s', async (_, given) => {
    const { bare, whole } = await both(() => begun(given, { limit: 50 }));
    expect(whole.looked).toBe(60);
    expect(bare.looked).toBeLessThan(40);
    expect(bare.sent).toHaveLength(10);
  });

  it('does so after each of many starts', async () => {
    const run = await begun(many, { limit: 40 });
    for (let start = 0; start < 4; start++)
      expect(await started(run, { limit: 5 })).toMatchObject({ sent: { length: 5 } });
    expect((await started(run)).looked).toBe(0);
  });

  it('takes up what failed in the middle', async () => {
    const given = many.map((row, at) => (at === 30 ? { ...row, input: { row: failing } } : row));
    const { bare } = await both(() => ended(given), undefined, { retry: ['failed'] });
    expect(bare.sent).toEqual([failing]);
    expect(bare.looked).toBeLessThan(50);
  });

  it.each([
    ['rows without an id that ask for the same', many.map(() => ({ endpoint: 'echo', input: { row: 'r' } }))],
    ['rows that ask for the same', many.map((row) => ({ ...row, input: { row: 'r' } }))],
    ['ids that differ in case alone', many.map((row, at) => ({ ...row, id: at === 59 ? 'Row-3' : row.id }))],
  ])('reads all of them where there are %s', async (_, given) => {
    const { bare } = await both(() => begun(given, { limit: 50 }));
    expect(bare.looked).toBe(60);
    expect(bare.sent).toHaveLength(10);
  });

  it('names pictures apart from those of rows that are gone', async () => {
    const make = async () => {
      const run = paperRun();
      run.manifest([job('row-3')]);
      await run.start();
      run.manifest(many.map((row) => ({ ...row, id: row.id.toUpperCase() })));
      await run.start({ add: true, limit: 50 });
      return run;
    };
    expect((await both(make, undefined, { add: true })).bare.looked).toBe(60);
  });

  test.prop([fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), fc.constantFrom(1, 30, 60)], {
    numRuns: 5,
  })(
    'does as it would without what is kept where any byte of the manifest is another',
    async (place, by, isCsv, limit) => {
      const path = isCsv ? '/job/manifest.csv' : '/job/manifest.jsonl';
      await both(
        () => begun(isCsv ? asCsv : many, { limit }),
        (run) => flip(run, path, place, by),
      );
    },
  );

  test.prop([fc.nat(), fc.integer({ min: 1, max: 255 }), fc.option(fc.nat())], { numRuns: 5 })(
    'does as it would without what is kept where that is damaged',
    async (place, by, end) => {
      await both(
        () => begun(many, { limit: 30 }),
        (run) => {
          const content = run.disk.peek(kept);
          if (content === undefined) return;
          flip(run, kept, place, by);
          const torn = Buffer.from(run.disk.peek(kept) as Buffer);
          if (end !== null) run.disk.plant(kept, torn.subarray(0, end % content.length));
        },
      );
    },
  );
});

function flip(run: PaperRun, path: string, place: number, by: number): void {
  const bytes = Buffer.from(run.disk.peek(path) as Buffer);
  const at = place % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ by;
  run.disk.plant(path, bytes);
}
