import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => edit(id));
/** Two of the rows. */
const cap = 0.2;

const bought = (run: PaperRun) => run.service.posts.length;
const caps = (run: PaperRun) => run.lines('journal.jsonl').filter(({ k }) => k === 'cap');
const aheadOf = ({ events }: PaperEnd) =>
  events.flatMap((event) => (event.type === 'checked' ? [event.ahead] : []))[0];

function begun(): PaperRun {
  const run = paperRun();
  run.manifest(rows);
  return run;
}

describe('the cap of a run', () => {
  it('holds at every later start that is given none', async () => {
    const run = begun();
    expect((await run.start({ maxCostUsd: cap, concurrency: 1 })).exitCode).toBe(3);
    const later = await run.start({ concurrency: 1 });
    expect({ exitCode: later.exitCode, bought: bought(run) }).toEqual({ exitCode: 3, bought: 2 });
    expect(aheadOf(later)).toMatchObject({
      cap: { usd: cap, source: 'remembered', left: 25_000 },
      fits: { rows: 0, estimated: 0 },
    });
    expect(caps(run)).toMatchObject([{ usd: cap }]);
    expect(await readStatus('/job/out', { disk: run.disk })).toMatchObject({
      rememberedCap: cap,
      cost: { cap },
    });
  });

  it('is raised by a start that gives another one, and remembered as that', async () => {
    const run = begun();
    await run.start({ maxCostUsd: cap, concurrency: 1 });
    expect((await run.start({ maxCostUsd: 0.3, concurrency: 1 })).exitCode).toBe(3);
    expect((await run.start({ concurrency: 1 })).exitCode).toBe(3);
    expect(bought(run)).toBe(3);
    expect(caps(run).map(({ usd }) => usd)).toEqual([cap, 0.3]);
  });

  it('is lifted by null, and stays so', async () => {
    const run = begun();
    await run.start({ maxCostUsd: cap, concurrency: 1 });
    expect((await run.start({ maxCostUsd: null, only: ['c'] })).exitCode).toBe(0);
    const later = await run.start({ defaultMaxCostUsd: cap });
    expect({ exitCode: later.exitCode, bought: bought(run) }).toEqual({ exitCode: 0, bought: 5 });
    const status = await readStatus('/job/out', { disk: run.disk });
    expect(status.rememberedCap).toBeNull();
    expect(status.cost.cap).toBeUndefined();
  });

  it('comes before the default, which no run remembers', async () => {
    const run = begun();
    const first = await run.start({ defaultMaxCostUsd: cap, concurrency: 1 });
    expect(first.exitCode).toBe(3);
    expect(aheadOf(first)).toMatchObject({
      cap: { source: 'configured' },
      fits: { rows: 2, estimated: 175_000 },
    });
    expect(caps(run)).toEqual([]);
    await run.start({ defaultMaxCostUsd: cap, maxCostUsd: 0.3, concurrency: 1 });
    expect((await run.start({ defaultMaxCostUsd: cap, concurrency: 1 })).exitCode).toBe(3);
    expect(bought(run)).toBe(3);
  });

  it('is in the journal before the start that gave it', async () => {
    const run = begun();
    await run.start({ maxCostUsd: cap });
    expect(run.lines('journal.jsonl').slice(0, 2)).toMatchObject([
      { n: 1, k: 'cap', usd: cap },
      { n: 2, k: 'start', settings: { maxCostUsd: cap } },
    ]);
  });

  it('is known from a snapshot, with the manifests of the run', async () => {
    const run = begun();
    await run.start({ maxCostUsd: cap, concurrency: 1 });
    await (await openJournal(run.disk, '/job/out', { snapshotEvery: 1 })).close();
    expect(run.disk.peek('/job/out/.journal.snapshot')).toBeDefined();
    const journal = await openJournal(run.disk, '/job/out');
    expect(journal.recovered).toMatchObject({ capUsd: cap, manifests: ['/job/manifest.jsonl'] });
    await journal.close();
    expect((await run.start({ concurrency: 1 })).exitCode).toBe(3);
  });
});
