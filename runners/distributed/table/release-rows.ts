import { retriesUnknown } from '../../batch/row/decide-row.js';
import type { IntentRecord } from '../../batch/journal/record.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { rowLeft, RowsBooked } from '../../batch/row/row-after.js';
import { runsyncTimeoutOf } from '../../batch/row/task.js';
import { readStored } from '../callbacks/callbacks-table.js';
import { inTransaction, wakeCollector, wakeWorkers, type Queries } from '../database/transaction.js';
import { claimJobs } from './claim-jobs.js';
import { insertRecords, recordsOfItems, type NewRecord } from './records.js';
import { lockLedger, saveLedger, type RunDatabase } from './run-ledger.js';
import { addRows, endRows, rowsOfWorker, type RowsChange, type TableRow } from './rows.js';
import type { RunTerms } from './run-terms.js';
import { giveSeatUp, type Seat } from './seats.js';

/**
 * Takes away a worker's seat at a run and releases its rows, so that other workers continue them from their records. A request
 * without an answer ends as `unknown`. Does nothing if the worker has neither seat nor rows, or if `isDue` returns false.
 */
export async function releaseSeat(
  { pool, queue }: RunDatabase,
  seat: Seat,
  isDue: (on: Queries) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const { run, worker } = seat;
  await inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    if (!(await isDue(on))) return;
    const held = await rowsOfWorker(on, run, worker);
    if (!(await giveSeatUp(on, seat)) && held.length === 0) return;
    await release({ on, queue, run, ledger }, held);
    await saveLedger(on, run, ledger);
    await wakeWorkers(on, run, 'rows');
    await wakeCollector(on, run);
  });
}

async function release(rows: RowsChange, held: readonly TableRow[]): Promise<void> {
  if (held.length === 0) return;
  const { on, run, ledger } = rows;
  const written = await recordsOfRows(on, run, held);
  const rules = await readRules(rows);
  const named = await namedByCallbacks(rows, written, rules.at);
  ledger.values.note(held);
  const records: NewRecord[] = [];
  const again: Omit<TableRow, 'since'>[] = [];
  const booked = new RowsBooked();
  for (const { item, task, reserved } of held) {
    const before = written.get(item) ?? [];
    const accepted = named.get(item) ?? [];
    const left = rowLeft(task, [...before, ...accepted], rules);
    const books = booked.begin(task);
    for (const record of before) booked.add(books, record);
    for (const record of [...accepted, ...left.records]) {
      const isLast = left.goesOn === undefined && record === left.records.at(-1);
      records.push({ item, text: JSON.stringify(record), isLast, booked: booked.add(books, record) });
    }
    const { goesOn } = left;
    if (goesOn === undefined) continue;
    const isOfThisStart =
      before.some(({ k }) => k === 'intent') || (task.what === 'poll' && task.isOfThisStart === true);
    // For a row that is sent, the next worker makes its own reservation.
    again.push(
      goesOn.what === 'poll'
        ? { item, task: { ...goesOn, isOfThisStart }, reserved }
        : { item, task: goesOn, reserved: 0 },
    );
  }
  await insertRecords(on, run, ledger, records);
  await endRows(rows, held);
  await addRows(rows, again);
}

/** The records of rows that were written since the rows were taken, by item. */
async function recordsOfRows(
  on: Queries,
  run: number,
  held: readonly TableRow[],
): Promise<ReadonlyMap<string, RowRecord[]>> {
  const items = held.map(({ item }) => item);
  const since = held.reduce((least, row) => Math.min(least, row.since), Infinity);
  const written = new Map<string, RowRecord[]>(items.map((item) => [item, []]));
  for (const { item, record } of await recordsOfItems(on, run, since, items)) written.get(item)?.push(record);
  return written;
}

/**
 * Whether a /runsync of this worker has no answer although its timeout passed more than `forMs` ago. A live worker would have
 * ended it as `unknown`.
 */
export async function hasOverdueRow(on: Queries, { run, worker }: Seat, forMs: number): Promise<boolean> {
  const rows = await rowsOfWorker(on, run, worker);
  const held = rows.filter(({ task: { row } }) => row.kind !== 'route' && row.mode === 'sync');
  if (held.length === 0) return false;
  const { now, terms } = await readTerms(on, run);
  for (const records of (await recordsOfRows(on, run, held)).values()) {
    const last = records.at(-1);
    if (last?.k === 'intent' && now >= last.at + runsyncTimeoutOf(terms, last.endpoint) + forMs) return true;
  }
  return false;
}

/** The jobs that callbacks have named for requests without an answer, by the items of their rows. */
async function namedByCallbacks(
  { on, run }: RowsChange,
  written: ReadonlyMap<string, readonly RowRecord[]>,
  at: number,
): Promise<ReadonlyMap<string, readonly RowRecord[]>> {
  const sent = new Map<string, { readonly item: string; readonly intent: IntentRecord }>();
  for (const [item, records] of written) {
    const last = records.at(-1);
    if (last?.k === 'intent') sent.set(last.id, { item, intent: last });
  }
  const named = new Map<string, readonly RowRecord[]>();
  if (sent.size === 0) return named;
  const jobs = (await readStored(on, run, [...sent.keys()])).flatMap(({ row: key, attempt, jobId }) => {
    const { intent } = sent.get(key) ?? {};
    return intent?.attempt === attempt ? [{ key, endpoint: intent.endpoint, jobId }] : [];
  });
  const owners = await claimJobs(on, run, jobs);
  for (const job of jobs) {
    const { key: id, jobId } = job;
    const item = sent.get(id)?.item ?? '';
    if ((owners.get(job) ?? id) === id && !named.has(item))
      named.set(item, [{ k: 'accepted', at, id, jobId }]);
  }
  return named;
}

/**
 * The rules for rows without an answer: a stopping run sends none again, and neither does one in another database than that of its
 * start, which may lack the answer.
 */
async function readRules({ on, run, ledger }: RowsChange) {
  const { now, terms } = await readTerms(on, run);
  return {
    at: Math.floor(now),
    isSentAgain: (doubles: number) => !ledger.isStopped && !ledger.isMoved && retriesUnknown(terms, doubles),
  };
}

/** The terms of a run, and the time by the database's clock. */
async function readTerms(on: Queries, run: number): Promise<{ terms: RunTerms; now: number }> {
  const { rows } = await on.query<{ terms: string; now: number }>(
    'select terms, extract(epoch from clock_timestamp())::float8 * 1000 as now from millrace.runs where run = $1',
    [run],
  );
  const { terms = '{}', now = 0 } = rows[0] ?? {};
  return { terms: JSON.parse(terms) as RunTerms, now };
}
