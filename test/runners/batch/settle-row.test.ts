import { describe, expect, it } from 'vitest';
import { settleRow, settleRows, type Settlement } from '../../../runners/batch/settle-row.js';
import { runBatch, type RunEvent } from '../../../runners/batch/run-batch.js';
import { readStatus } from '../../../runners/batch/read-status.js';
import { edit } from '../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../support/paper-run.js';

const hold = () => Promise.resolve({ release: () => Promise.resolve() });

/** A run whose row `a` is held. */
async function heldRun(): Promise<PaperRun> {
  const run = paperRun();
  run.service.behave = (row) => (row === 'a' ? 'lose-answer' : 'complete');
  run.manifest([edit('a'), edit('b')]);
  expect((await run.start()).exitCode).toBe(6);
  run.service.behave = () => 'complete';
  return run;
}

function settle(run: PaperRun, id: string, settlement: Settlement) {
  const { disk, scheduler } = run;
  return settleRow('/job/out', id, settlement, { disk, scheduler, hold });
}

function purchases(run: PaperRun): string[] {
  return run.costs().map(({ id, attempt, source }) => `${id} ${attempt} ${source}`);
}

describe('settleRow', () => {
  it('with a job id: the next start polls it, and buys nothing', async () => {
    const run = await heldRun();
    const summary = await settle(run, 'a', { jobId: 'job-a-1' });
    expect(summary).toMatchObject({ rows: { completed: 1, failed: 0, toDo: 1 }, cost: { unknown: 0 } });
    expect(run.lines('failures.jsonl')).toEqual([]);
    run.service.revive('job-a-1');
    const end = await run.start();
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.175, unknown: 0 } } });
    expect(run.service.posts).toEqual(['a', 'b']);
    expect(run.lines('results.jsonl').map(({ id, jobId }) => [id, jobId])).toContainEqual(['a', 'job-a-1']);
    expect(purchases(run)).toEqual(['b 1 reported', 'a 1 reported']);
  });

  it('with a cost that no service would be believed: a person has read it on a bill', async () => {
    const run = await heldRun();
    const summary = await settle(run, 'a', { paidUsd: 500 });
    expect(summary).toMatchObject({ cost: { reported: 500.0875, unknown: 0 } });
    expect((await run.start()).summary.cost).toMatchObject({ reported: 500.0875, unknown: 0 });
  });

  it('after a crash: counts the rows that ended since the last summary as ended', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c', 'd', 'e'].map((id) => edit(id)));
    const crashing = run.disk;
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.id === 'd' && event.event.type === 'submitting' && !crashing.crashed)
        run.disk = crashing.handOver();
    };
    await run.follow(runBatch(run.options({ concurrency: 1 })), watch);
    expect(JSON.parse(run.text('summary.json'))).toMatchObject({ rows: { completed: 0, toDo: 5 } });
    const { rows, pending } = await readStatus('/job/out', { disk: run.disk });
    expect(rows).toEqual({ total: 5, completed: 1, failed: 0, toDo: 4 });
    expect(pending.sent).toBe(1);
    await expect(settle(run, 'nobody', { notSent: true })).rejects.toMatchObject({ code: 'usage' });
    expect(JSON.parse(run.text('summary.json'))).toMatchObject({ rows });
    const { id } = run.lines('journal.jsonl').findLast(({ k }) => k === 'intent')!;
    expect((await settle(run, String(id), { notSent: true }))?.rows).toEqual(rows);
    expect((await readStatus('/job/out', { disk: run.disk })).rows).toEqual(rows);
  });

  it('with the job id of another row: refused, its result would stand for both', async () => {
    const run = await heldRun();
    const jobId = String(run.lines('results.jsonl')[0]?.['jobId']);
    await expect(settle(run, 'a', { jobId })).rejects.toMatchObject({
      code: 'usage',
      message: `job "${jobId}" is that of row "b"`,
    });
    expect((await run.start()).summary.failures).toEqual({ unknown: 1 });
  });

  it('with a job id that was given to another row and taken back', async () => {
    const run = paperRun();
    run.service.behave = () => 'lose-answer';
    run.manifest([edit('a'), edit('b')]);
    await run.start({ concurrency: 1 });
    await settle(run, 'a', { jobId: 'job-b-1' });
    await settle(run, 'a', { undo: true });
    await settle(run, 'b', { jobId: 'job-b-1' });
    await settle(run, 'a', { paidUsd: 0.0875 });
    run.service.revive('job-b-1');
    expect((await run.start()).summary).toMatchObject({ rows: { completed: 1 }, cost: { reported: 0.175 } });
    expect(run.lines('results.jsonl').map(({ id, jobId }) => [id, jobId])).toEqual([['b', 'job-b-1']]);
    expect(run.costs().map(({ id, jobId }) => [id, jobId])).toEqual([
      ['a', ''],
      ['b', 'job-b-1'],
    ]);
  });

  it('with a job id, of a row that a start has opened again and not sent: the next start polls it', async () => {
    const run = await heldRun();
    expect((await run.start({ retry: ['unknown'], maxCostUsd: 0.2 })).exitCode).toBe(3);
    await settle(run, 'a', { jobId: 'job-a-1' });
    run.service.revive('job-a-1');
    const end = await run.start({ maxCostUsd: null });
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.175, unknown: 0 } } });
    expect(run.service.posts).toEqual(['a', 'b']);
    expect(purchases(run)).toEqual(['b 1 reported', 'a 1 reported']);
  });

  it('as never sent, of a row that was paid and is to be bought again: refused', async () => {
    const run = await heldRun();
    await settle(run, 'a', { paidUsd: 0.09 });
    expect((await run.start({ retry: ['expired'], maxCostUsd: 0.2 })).exitCode).toBe(3);
    await expect(settle(run, 'a', { notSent: true })).rejects.toMatchObject({ code: 'usage' });
  });

  it('as never sent: the next start sends it', async () => {
    const run = await heldRun();
    expect(await settle(run, 'a', { notSent: true })).toMatchObject({
      rows: { toDo: 1 },
      cost: { unknown: 0 },
    });
    expect((await run.start()).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b', 'a']);
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(purchases(run)).toEqual(['b 1 reported', 'a 2 reported']);
  });

  it('as paid: its cost is in the books, its result is given up, and nobody is asked any more', async () => {
    const run = await heldRun();
    const summary = await settle(run, 'a', { paidUsd: 0.09 });
    expect(summary).toMatchObject({ failures: { expired: 1 }, cost: { reported: 0.1775, unknown: 0 } });
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'expired', paid: 'yes' } }]);
    expect(purchases(run)).toEqual(['b 1 reported', 'a 1 reported']);
    expect(run.costs().map(({ cost }) => cost)).toEqual(['0.0875', '0.09']);
    expect((await run.start({ retry: ['unknown'] })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b']);
    expect((await readStatus('/job/out', { disk: run.disk })).held).toEqual([]);
  });

  it.each([{ jobId: 'job-a-1' }, { paidUsd: 0.09 }, { notSent: true }] as const)(
    'changes nothing the second time: %j',
    async (settlement) => {
      const run = await heldRun();
      const first = await settle(run, 'a', settlement);
      const journal = run.lines('journal.jsonl');
      expect(await settle(run, 'a', settlement)).toMatchObject({ rows: first?.rows, cost: first?.cost });
      expect(run.lines('journal.jsonl')).toEqual(journal);
      const other = 'paidUsd' in settlement ? { paidUsd: 0.1 } : { paidUsd: 0.09 };
      await expect(settle(run, 'a', other)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it.each([
    ['nobody', { notSent: true }, /no row with the id "nobody"/],
    ['b', { notSent: true }, /not in doubt, it is completed/],
    ['a', { paidUsd: -1 }, /not an amount/],
    ['a', { jobId: '' }, /empty/],
  ] as const)('refuses %s %j', async (id, settlement, message) => {
    const run = await heldRun();
    await expect(settle(run, id, settlement)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message) as string,
    });
    expect(run.lines('failures.jsonl')).toHaveLength(1);
  });

  it.each<[Settlement, string, number]>([
    [{ jobId: 'job-a-1' }, 'completed', 0],
    [{ notSent: true }, 'completed', 0],
    [{ paidUsd: 0.0875 }, 'expired', 0],
  ])('also of a row whose start died, before any other start: %j', async (settlement, status, exitCode) => {
    const run = paperRun();
    run.manifest([edit('a')]);
    const before = run.disk;
    await run.follow(runBatch(run.options()), (event) => {
      if (event.type === 'row' && event.event.type === 'submitting') run.disk = before.handOver();
    });
    await settle(run, 'a', settlement);
    const end = await run.start();
    expect(end).toMatchObject({
      exitCode,
      summary: { rows: { toDo: 0 }, cost: { reported: 0.0875, unknown: 0 } },
    });
    const { rows, failures } = end.summary;
    expect(status === 'completed' ? rows.completed : failures.expired).toBe(1);
    expect(run.service.posts).toEqual('notSent' in settlement ? ['a', 'a'] : ['a']);
  });

  it('refuses a folder without a run', async () => {
    const run = paperRun();
    await expect(settle(run, 'a', { notSent: true })).rejects.toMatchObject({ code: 'usage' });
    expect(run.disk.paths()).toEqual([]);
  });
});

describe('settleRows', () => {
  const options = (run: PaperRun) => ({ disk: run.disk, scheduler: run.scheduler, hold });

  it('settles several rows, or none where one of them is not in doubt', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'c' ? 'complete' : 'lose-answer');
    run.manifest(['a', 'b', 'c'].map((id) => edit(id)));
    await run.start();
    const rows = (ids: string[]) => ids.map((id) => ({ id, settlement: { notSent: true } as const }));
    const before = run.text('journal.jsonl');
    await expect(settleRows('/job/out', rows(['a', 'b', 'c']), options(run))).rejects.toThrow(
      'row "c" is not in doubt',
    );
    expect(run.text('journal.jsonl')).toBe(before);
    const summary = await settleRows('/job/out', rows(['a', 'b']), options(run));
    expect(summary).toMatchObject({ rows: { toDo: 2 }, cost: { unknown: 0 } });
    run.service.behave = () => 'complete';
    expect((await run.start()).exitCode).toBe(0);
  });

  it.each([{ notSent: true } as const, { jobId: 'job-x' }])(
    'takes %j back, and the row is held again',
    async (way) => {
      const run = await heldRun();
      const before = await readStatus('/job/out', { disk: run.disk });
      const costs = run.text('costs.csv');
      await settle(run, 'a', way);
      expect(await settle(run, 'a', { undo: true })).toMatchObject({
        rows: { failed: 1, toDo: 0 },
        cost: { unknown: 0.0875 },
      });
      const after = await readStatus('/job/out', { disk: run.disk });
      expect(after).toMatchObject({ held: ['a'], cost: before.cost, failures: before.failures });
      expect(run.text('costs.csv').split('\n').length).toBe(costs.split('\n').length);
      expect((await run.start()).exitCode).toBe(6);
      expect(run.service.posts).toEqual(['a', 'b']);
    },
  );

  it('reads the journal as often for many rows that are settled by their jobs, and taken back, as for one', async () => {
    const opened = async (rows: number): Promise<number> => {
      const run = paperRun();
      run.service.behave = () => 'lose-answer';
      const ids = Array.from({ length: rows }, (_, place) => `r${place}`);
      run.manifest(ids.map((id) => edit(id)));
      await run.start({ concurrency: 1 });
      const before = run.disk.counts.open ?? 0;
      const settled = ids.map((id) => ({ id, settlement: { jobId: `job-${id}-1` } }));
      const options = { disk: run.disk, scheduler: run.scheduler, hold };
      await settleRows('/job/out', settled, options);
      const undone = ids.map((id) => ({ id, settlement: { undo: true } as const }));
      await settleRows('/job/out', undone, options);
      return (run.disk.counts.open ?? 0) - before;
    };
    expect(await opened(12)).toBe(await opened(1));
  });

  it('takes nothing back that was not settled, that a start has acted on, or that has a cost', async () => {
    const run = await heldRun();
    await expect(settle(run, 'a', { undo: true })).rejects.toThrow('was not settled');
    await settle(run, 'a', { notSent: true });
    await run.start();
    await expect(settle(run, 'a', { undo: true })).rejects.toThrow('has continued since');
    const other = await heldRun();
    await settle(other, 'a', { paidUsd: 0.05 });
    await expect(settle(other, 'a', { undo: true })).rejects.toThrow('a recorded cost cannot be taken back');
  });

  describe('an attempt of a row that was bought again since', () => {
    /** `a` was bought twice, the first time perhaps. */
    async function doubled(): Promise<PaperRun> {
      const run = await heldRun();
      const end = await run.start({ retry: ['unknown'] });
      expect(end).toMatchObject({
        exitCode: 0,
        summary: { cost: { reported: 0.175, unknown: 0.0875, possiblyDouble: 0.0875 } },
      });
      return run;
    }

    it('was never made: its money is free under the cap, and its line leaves costs.csv', async () => {
      const run = await doubled();
      await expect(settle(run, 'a', { notSent: true })).rejects.toThrow(
        'it is completed; an earlier attempt of it is in doubt: name it by its number (1)',
      );
      const rows = [{ id: 'a', settlement: { notSent: true } as const, attempt: 1 }];
      const freed = {
        cost: { reported: 0.175, unknown: 0, possiblyDouble: 0 },
        rows: { toDo: 0, completed: 2 },
      };
      expect(await settleRows('/job/out', rows, options(run))).toMatchObject(freed);
      expect(await settleRows('/job/out', rows, options(run))).toMatchObject(freed);
      expect(purchases(run).sort()).toEqual(['a 2 reported', 'b 1 reported']);
      expect(await readStatus('/job/out', { disk: run.disk })).toMatchObject({ cost: freed.cost });
      run.manifest(['a', 'b', 'c'].map((id) => edit(id)));
      expect((await run.start({ maxCostUsd: 0.27 })).exitCode).toBe(0);
    });

    it('was made and cost something: that is in costs.csv, and spent', async () => {
      const run = await doubled();
      const rows = [{ id: 'a', settlement: { paidUsd: 0.05 }, attempt: 1 }];
      expect(await settleRows('/job/out', rows, options(run))).toMatchObject({
        cost: { reported: 0.225, unknown: 0, possiblyDouble: 0 },
      });
      const costs = run.text('costs.csv');
      expect(purchases(run).sort()).toEqual(['a 1 reported', 'a 2 reported', 'b 1 reported']);
      // The same follows from the journal alone.
      run.disk.plant('/job/out/summary.json', '');
      run.disk.plant('/job/out/costs.csv', '');
      expect((await run.start()).summary.cost).toMatchObject({ reported: 0.225, unknown: 0 });
      expect(run.text('costs.csv').split('\n').sort()).toEqual(costs.split('\n').sort());
      await expect(
        settleRows('/job/out', [{ ...rows[0]!, settlement: { paidUsd: 9 } }], options(run)),
      ).rejects.toThrow('attempt 1 of row "a" is not in doubt: it was settled before');
    });

    it('can be settled before the row is sent again: after --retry unknown under a cap that it did not fit', async () => {
      const run = await heldRun();
      const end = await run.start({ retry: ['unknown'], maxCostUsd: 0.18 });
      expect(end).toMatchObject({ exitCode: 3, summary: { cost: { unknown: 0.0875 }, rows: { toDo: 1 } } });
      await expect(settle(run, 'a', { paidUsd: 0.05 })).rejects.toThrow(
        'it is open; an earlier attempt of it is in doubt: name it by its number (1)',
      );
      const rows = [{ id: 'a', settlement: { paidUsd: 0.05 }, attempt: 1 }];
      const paid = { cost: { reported: 0.1375, unknown: 0, possiblyDouble: 0 }, rows: { toDo: 1 } };
      expect(await settleRows('/job/out', rows, options(run))).toMatchObject(paid);
      expect(await settleRows('/job/out', rows, options(run))).toMatchObject(paid);
      expect((await run.start({ maxCostUsd: null })).summary.cost).toMatchObject({
        reported: 0.225,
        unknown: 0,
      });
      expect(purchases(run).sort()).toEqual(['a 1 reported', 'a 2 reported', 'b 1 reported']);
    });

    it('is settled as never sent by the id of a row that waits to be sent again', async () => {
      const run = await heldRun();
      await run.start({ retry: ['unknown'], maxCostUsd: 0.18 });
      expect(await settle(run, 'a', { notSent: true })).toMatchObject({
        cost: { reported: 0.0875, unknown: 0, possiblyDouble: 0 },
        rows: { toDo: 1 },
      });
      await expect(settle(run, 'a', { undo: true })).rejects.toThrow('attempt 1 cannot be taken back');
      expect((await run.start({ maxCostUsd: 0.18 })).exitCode).toBe(0);
      expect(purchases(run).sort()).toEqual(['a 2 reported', 'b 1 reported']);
    });

    it('is refused where it was never held, and cannot be polled', async () => {
      const run = await doubled();
      const rows = (attempt: number, settlement: Settlement) => [{ id: 'a', settlement, attempt }];
      await expect(settleRows('/job/out', rows(7, { notSent: true }), options(run))).rejects.toThrow(
        'is not in doubt',
      );
      await expect(settleRows('/job/out', rows(1, { jobId: 'x' }), options(run))).rejects.toThrow(
        'cannot be polled',
      );
    });
  });
});
