import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunStore } from '../../../../runners/distributed/store/create-run-store.js';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { sweep } from '../../../../runners/distributed/store/sweep.js';
import { takeSubmits } from '../../../../runners/distributed/store/take-submits.js';
import { noteWorker } from '../../../../runners/distributed/records/worker-record.js';
import { openRunDatabase, rowsOf, termsWith, type RunDatabase } from '../../../support/run-database.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

describe('a run in the database', () => {
  it('takes rows in once, and waits for them to be fed again at the next start', async () => {
    const store = createRunStore(database);
    const { run, starts } = await store.openRun('fed', termsWith());
    expect(starts).toBe(1);
    expect(await store.feed(run, rowsOf(3))).toBe(3);
    expect(await store.feed(run, rowsOf(4))).toBe(1);
    await store.fedAll(run);
    expect(await store.stateOf(run)).toMatchObject({ open: 4, inFlight: 0, ended: 0, fedAll: true });
    const again = await store.openRun('fed', termsWith({ cap: 5 }));
    expect(again).toMatchObject({ run, starts: 2, before: { concurrency: 8 } });
    expect(await store.stateOf(run)).toMatchObject({ open: 0, fedAll: false, cap: 5 });
    expect(await store.feed(run, rowsOf(2))).toBe(2);
    const found = await store.find(run, ['r1', 'r3', 'none']);
    expect(found.map(({ id, place }) => [id, place]).sort()).toStrictEqual([
      ['r1', 'open'],
      ['r3', 'left'],
    ]);
  });

  it('holds ids and texts that PostgreSQL’s own JSON cannot read', async () => {
    const store = createRunStore(database);
    const { run } = await store.openRun('odd', termsWith());
    const [row] = rowsOf(1, { prompt: 'nul \u0000, half a pair \ud800' });
    if (row === undefined) throw new Error('no row');
    await store.feed(run, [{ ...row, facts: { ...row.facts, id: 'half \udc00', mode: 'sync' } }]);
    const worker = randomUUID();
    await noteWorker(database.pool, {
      worker,
      host: 'here',
      pid: 1,
      does: { submits: 1, polls: 0, downloads: 0 },
    });
    const options = { worker, most: 1, book: createPriceBook(), maxPriceDriftPercent: undefined };
    expect(await takeSubmits(database, run, options)).toHaveLength(1);
    expect(await store.find(run, ['half \udc00'])).toMatchObject([{ id: 'half \udc00', place: 'sent' }]);
    await sweep(database, -4_000);
    expect(await store.stateOf(run)).toMatchObject({ inFlight: 1 });
    await sweep(database, -5_001);
    expect(await store.stateOf(run)).toMatchObject({ inFlight: 0, unknown: 100_000 });
  });

  it('keeps the stop that matters most, with all that any of them leaves', async () => {
    const store = createRunStore(database);
    const { run } = await store.openRun('stopped', termsWith());
    await store.stopRun(run, { exitCode: 3, reason: 'cap', leaves: [] });
    await store.stopRun(run, { exitCode: 69, reason: 'away', leaves: ['open', 'accepted'] });
    expect((await store.stateOf(run)).stop).toStrictEqual({
      exitCode: 3,
      reason: 'cap',
      leaves: ['open', 'accepted'],
    });
  });

  it('is forgotten with its rows and queues', async () => {
    const store = createRunStore(database);
    const { run } = await store.openRun('gone', termsWith());
    await store.feed(run, rowsOf(2));
    await store.forget(run);
    expect(await store.findRun('gone')).toBeUndefined();
    const { rows } = await database.pool.query('select 1 from millrace_queue.queue where name like $1', [
      `millrace_${run}_%`,
    ]);
    expect(rows).toStrictEqual([]);
  });
});
