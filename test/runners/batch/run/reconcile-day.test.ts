import { of } from 'rxjs';
import { expect, it } from 'vitest';
import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { openDayLedger, type DayLedger } from '../../../../runners/batch/ledger/day-ledger.js';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { reconcileDay } from '../../../../runners/batch/start/money/day-money.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun } from '../../../support/paper-run.js';

type Found = { status: string; attempts: number; reply?: object; outcome?: object };

const rows: Record<string, Found> = {
  sent: { status: 'sent', attempts: 1 },
  accepted: { status: 'accepted', attempts: 1 },
  replied: { status: 'replied', attempts: 1, reply: { source: 'reported', cost: 7 } },
  completed: { status: 'completed', attempts: 1, outcome: { source: 'reported', cost: 9 } },
  failed: { status: 'job-failed', attempts: 1, outcome: { source: 'estimated', cost: 0 } },
  unknown: { status: 'unknown', attempts: 1, outcome: { source: 'unknown', cost: 5 } },
  unpriced: { status: 'completed', attempts: 1, outcome: { source: 'estimated', cost: null } },
  twice: { status: 'completed', attempts: 2, outcome: { source: 'reported', cost: 9 } },
};

it('ends what the journal knows the end of, frees what was never sent, and keeps what may have been bought', async () => {
  const done: unknown[] = [];
  const shared = {
    outstanding: async () =>
      [...Object.keys(rows), 'never'].map((id) => ({ at: 0, run: '/a', id, amount: 5 })),
    settle: async (id: string, cost: number) => void done.push([id, cost]),
    release: async (id: string) => void done.push([id]),
  } as unknown as DayLedger;
  const journal = {
    recovered: { firstStartAt: 0, mustHold: () => false, rows: { get: (id: string) => rows[id] } },
    find: async (id: string) => rows[id],
  } as unknown as Journal;
  await reconcileDay(shared, journal);
  expect(done).toEqual([['replied', 7], ['completed', 9], ['failed', 0], ['never']]);
});

function runOfDay() {
  const run = paperRun();
  const shared = () =>
    openDayLedger({
      disk: run.disk,
      path: '/state/ledger.jsonl',
      capUsd: 5,
      run: '/job/out',
      exclusively: (work) => work(),
      now: () => run.scheduler.now(),
    });
  const start = (choices?: Partial<RunBatchOptions>) =>
    run.start({ dayLedger: () => Promise.resolve(shared()), ...choices });
  return { run, shared, start };
}

it('keeps what a run may have bought that was in the folder before', async () => {
  const { run, shared, start } = runOfDay();
  run.service.behave = (row) => (row === 'a' ? 'lose-answer' : 'complete');
  run.manifest([edit('a'), edit('b')]);
  expect((await start({ limit: 1 })).exitCode).toBe(6);
  run.disk.moveFolder('/job/out', '/job/moved');
  for (let times = 0; times < 2; times++) {
    expect((await start({ only: ['b'] })).exitCode).toBe(0);
    expect(await shared().outstanding()).toMatchObject([{ id: 'a', amount: 87_500 }]);
  }
});

it('keeps what a job may cost that was accepted, where the key is refused when it is polled', async () => {
  const { run, shared, start } = runOfDay();
  run.service.behave = () => 'hang';
  run.manifest([{ ...edit('a'), mode: 'async' }]);
  const { transport } = run.service;
  const refused = of({ status: 401, headers: {}, body: '{"error":"key"}' });
  const end = await start({
    transport: (request) => (request.method === 'GET' ? refused : transport(request)),
  });
  expect(end).toMatchObject({ exitCode: 4, summary: { rows: { toDo: 1 } } });
  expect([...run.service.bill]).toEqual([['a', 87_500]]);
  expect(await shared().outstanding()).toMatchObject([{ id: 'a', amount: 87_500 }]);
});

it('keeps it also if the clock was set back since', async () => {
  const { run, shared, start } = runOfDay();
  run.service.behave = () => 'lose-answer';
  run.manifest([edit('a'), edit('b')]);
  run.scheduler.frame = 26 * 3_600_000;
  expect((await start({ only: ['a'] })).exitCode).toBe(6);
  run.disk.moveFolder('/job/out', '/job/moved');
  run.scheduler.frame = 3_600_000;
  run.service.behave = () => 'complete';
  for (let times = 0; times < 2; times++) {
    expect((await start({ only: ['b'] })).exitCode).toBe(0);
    expect(await shared().outstanding()).toMatchObject([{ id: 'a', amount: 87_500 }]);
  }
});

it('frees what the run itself has reserved and never sent, if the clock was set back before the next start', async () => {
  const { run, shared, start } = runOfDay();
  run.manifest([edit('a'), edit('b')]);
  expect((await start({ only: ['a'] })).exitCode).toBe(0);
  // It was killed before the row had a record.
  run.scheduler.frame += 100;
  expect(await shared().reserve('b', 4_900_000)).toBe(true);
  run.scheduler.frame -= 600_000;
  expect((await start()).exitCode).toBe(0);
  expect(await shared().outstanding()).toEqual([]);
});

it('keeps what may have been bought by rows that a repaired journal has lost', async () => {
  const { run, shared, start } = runOfDay();
  run.service.behave = (row) => (row === 'a' ? 'lose-answer' : 'complete');
  run.manifest([edit('b'), edit('a')]);
  expect((await start()).exitCode).toBe(6);
  const damaged = run.text('journal.jsonl').replace(/^.*"id":"a".*$/gm, 'damaged');
  run.disk.removeFolder('/job/out');
  run.disk.plant('/job/out/journal.jsonl', damaged);
  expect((await start({ repair: true })).exitCode).toBe(6);
  expect(await shared().outstanding()).toMatchObject([{ id: 'a', amount: 87_500 }]);
});

it('keeps what may have been bought of a row that is to be sent again, and was not', async () => {
  const { run, shared, start } = runOfDay();
  run.service.behave = (row) => (row === 'a' ? 'lose-answer' : 'complete');
  run.manifest([edit('a'), edit('b')]);
  await start();
  run.service.behave = () => ({ status: 401, body: {} });
  expect((await start({ retry: ['unknown'], maxCostUsd: 0.2 })).exitCode).toBe(3);
  expect((await start({ maxCostUsd: null })).exitCode).toBe(4);
  expect((await start()).exitCode).toBe(4);
  expect(await shared().outstanding()).toMatchObject([{ id: 'a', amount: 87_500 }]);
});
