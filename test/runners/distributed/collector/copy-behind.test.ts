import type { Pool } from 'pg';
import { asyncScheduler } from 'rxjs';
import { expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { appendAll } from '../../../../runners/batch/journal/journal.js';
import { recordsOfSent } from '../../../../runners/batch/row/left-rows.js';
import type { RowRecord } from '../../../../runners/batch/row/record-head.js';
import { heldByRow } from '../../../../runners/batch/settle/settlement-records.js';
import { catchUp } from '../../../../runners/batch/sinks/catch-up.js';
import { RunFiles } from '../../../../runners/batch/sinks/run-files.js';
import { copyBehind } from '../../../../runners/distributed/collector/copy-behind.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import {
  accepted,
  completed,
  failed,
  intent,
  refused,
  reply,
  start,
} from '../../../support/sample-records.js';

const purchase = { row: 1, attempt: 1, endpoint: 'image-edit', jobId: 'job-a', settledAt: 4_000 };
const price = 87_500;
const sent = [intent('a'), accepted('a')];
const doubtful = (isSentAgain: boolean) =>
  recordsOfSent({ id: 'a', intent: intent('a'), attempts: 1, price }, 9_000, isSentAgain);

/** A folder that knows these records, once those of its database are copied into it with `--repair`. */
async function copied(known: readonly RowRecord[], stored: readonly RowRecord[], collected = 2) {
  const disk = new ForgetfulDisk();
  const rows = stored.map((record, n) => ({
    seq: n + 1,
    item: 'a',
    isLast: false,
    record: JSON.stringify(record),
  }));
  const query = (_: string, [, after]: [number, number]) =>
    Promise.resolve({ rows: rows.filter(({ seq }) => seq > after) });
  const pool = { query } as unknown as Pool;
  const first = await openJournal(disk, '/out');
  await appendAll(first, [start(), ...known]);
  await first.close();
  const journal = await openJournal(disk, '/out');
  const files = await RunFiles.open(disk, '/out', {}, { sheets: undefined, valueColumns: [] });
  const { records } = await catchUp(files, journal, 0);
  const copying = { out: '/out', database: { pool }, run: 1, scheduler: asyncScheduler, repair: true };
  await copyBehind(copying, journal, { collected, among: collected, fedUpToRow: 1 });
  await journal.close();
  const again = await openJournal(disk, '/out');
  await catchUp(files, again, records);
  const [, ...costs] = String(disk.peek('/out/costs.csv')).trim().split('\n');
  const failures = String(disk.peek('/out/failures.jsonl')).trim().split('\n').length;
  const held = [...((await heldByRow(again, ['a'])).get('a')?.keys() ?? [])];
  const journalled: string[] = [];
  for await (const { k } of again.records()) journalled.push(k);
  return { journal: again, costs, failures, held, totals: again.recovered.totals, journalled };
}

it.each(['expired', 'deadline', 'output-mismatch'] as const)(
  'keeps one line in costs.csv for a row that the folder knows as %s at a cost that is held, where the database lacks its end',
  async (code) => {
    const end = failed('a', code, { cost: price, source: 'unknown', purchase });
    const { costs } = await copied([...sent, end], [...sent, ...doubtful(false)]);
    expect(costs).toEqual([expect.stringMatching(/^a,1,1,job-a,.*,0.0875,unknown,/)]);
  },
);

it('keeps one end of a row that the folder knows as unknown at a later attempt', async () => {
  const again = [...sent.slice(0, 1), refused('a'), intent('a', { attempt: 2 })];
  const late = { ...purchase, attempt: 2 };
  const end = failed('a', 'unknown', { cost: price, source: 'unknown', purchase: late });
  const { costs, failures, totals } = await copied([...again, end], [intent('a'), ...doubtful(false)], 1);
  expect([failures, totals.unknown]).toEqual([1, price]);
  expect(costs).toEqual([expect.stringMatching(/^a,1,2,job-a,.*,0.0875,unknown,/)]);
});

it('copies what stands before a group that its worker has written again, and the group once', async () => {
  const b = intent('b', { row: 2, attempt: 1 });
  const { journal, journalled } = await copied([intent('a'), b], [...sent, b]);
  expect([(await journal.find('a'))?.status, (await journal.find('b'))?.status]).toEqual([
    'accepted',
    'sent',
  ]);
  expect(journalled.filter((k) => k === 'intent')).toHaveLength(2);
});

it('copies no record that the journal has lost from its middle behind later ones of its row', async () => {
  const { journal } = await copied([intent('a'), reply('a')], [...sent, reply('a')]);
  expect((await journal.find('a'))?.status).toBe('replied');
});

const ends: readonly (readonly [string, RowRecord[]])[] = [
  ['completed', [reply('a'), completed('a', { purchase })]],
  ['expired at a cost that is held', [failed('a', 'expired', { cost: price, source: 'unknown', purchase })]],
];

it.each(ends)(
  'books the purchase of a row once that the folder knows as %s, and that was to be sent again',
  async (_, end) => {
    const known = await copied([...sent, ...end], [...sent, ...doubtful(false)]);
    const { journal, costs, held, totals } = await copied([...sent, ...end], [...sent, ...doubtful(true)]);
    expect([costs, held, totals]).toEqual([known.costs, [], known.totals]);
    const [row, before] = [await journal.find('a'), await known.journal.find('a')];
    expect({ ...row, outcome: { ...row?.outcome, at: 0 } }).toEqual({
      ...before,
      outcome: { ...before?.outcome, at: 0 },
    });
  },
);

it('goes on with the job of a row that was to be sent again, and holds nothing beside it', async () => {
  const { journal, costs, held, totals } = await copied(sent, [intent('a'), ...doubtful(true)], 1);
  expect(await journal.find('a')).toMatchObject({ status: 'accepted', jobId: 'job-a' });
  expect([costs, held, totals.reserved, totals.unknown]).toEqual([[], [], price, 0]);
});

it.each([
  ['end', ends[0]?.[1] ?? []],
  ['reply', [reply('a')]],
])('keeps the %s of the first purchase of a row that was sent again', async (_, known) => {
  const second = intent('a', { at: 9_500, attempt: 2 });
  const stored = [...sent, ...doubtful(true), second];
  const { costs, held, totals } = await copied([...sent, ...known], stored);
  expect(costs).toEqual([expect.stringMatching(/^a,1,1,job-a,.*,0.0875,reported,/)]);
  expect([held, totals.spent.reported, totals.reserved, totals.unknown]).toEqual([[], price, price, 0]);
});
