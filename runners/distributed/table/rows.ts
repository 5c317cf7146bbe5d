import { randomUUID } from 'node:crypto';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { fitsUnderCap } from '../../batch/ledger/ledger.js';
import type { RowTask } from '../../batch/row/row-after.js';
import type { Transaction } from '../database/transaction.js';
import type { Place, RowQueue } from '../queue/row-queue.js';
import { moneyIn, type RunLedger } from './run-ledger.js';

/** A row on its way, as it lies in the table. */
export interface TableRow {
  /** Its name in the queue. */
  readonly item: string;
  readonly task: RowTask;
  /** Its part of the budget. */
  readonly reserved: MicroDollars;
  /** Its records have higher numbers. */
  readonly since: number;
}

/** A transaction that changes the rows of a run, and the ledger that it has locked. */
export interface RowsChange {
  readonly on: Transaction;
  readonly queue: RowQueue;
  readonly run: number;
  readonly ledger: RunLedger;
}

/** Where a row with this task waits. */
export function placeOf({ what }: RowTask): Place {
  return what;
}

/** A new name for the row at this place of a batch: rows are dealt in the order of their names, so as they came. */
export function itemAt(place: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const count = place.toString(16).padStart(4, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}${random.slice(21)}`;
}

type NewRow = Omit<TableRow, 'since'>;

/** Adds rows that wait for a worker. */
export async function addRows(
  { on, queue, run, ledger }: RowsChange,
  rows: readonly NewRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await on.query(
    `insert into millrace.rows (run, item, task, place, reserved, since)
     select $1, item, task, place, reserved, $2::bigint
     from unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[]) as new (item, task, place, reserved)`,
    [
      ...[run, ledger.seq],
      rows.map(({ item }) => item),
      rows.map(({ task }) => JSON.stringify(task)),
      rows.map(({ task }) => placeOf(task)),
      rows.map(({ reserved }) => reserved),
    ],
  );
  for (const place of ['poll', 'send'] as const) {
    const items = rows.filter(({ task }) => placeOf(task) === place).map(({ item }) => item);
    await queue.put(on, run, place, items);
  }
  ledger.waiting += rows.length;
  for (const { reserved } of rows) ledger.reserved += reserved;
}

/** Deletes rows that a worker has, and frees their part of the budget. */
export async function endRows(
  { on, queue, run, ledger }: RowsChange,
  items: readonly string[],
): Promise<void> {
  if (items.length === 0) return;
  const { rows } = await on.query<{ item: string; place: Place; reserved: number }>(
    'delete from millrace.rows where run = $1 and item = any($2::uuid[]) returning item, place, reserved::float8',
    [run, items],
  );
  for (const { place, reserved } of rows) {
    ledger.inFlight -= 1;
    if (place === 'poll') ledger.polled -= 1;
    ledger.reserved -= reserved;
  }
  for (const place of ['poll', 'send'] as const)
    await queue.remove(
      on,
      run,
      place,
      rows.filter((row) => row.place === place).map(({ item }) => item),
    );
}

/** Changes the part of the budget that rows have. */
export async function reserveForRows(
  { on, run, ledger }: RowsChange,
  prices: ReadonlyMap<string, MicroDollars>,
): Promise<void> {
  if (prices.size === 0) return;
  const { rows } = await on.query<{ by: number }>(
    `with given as (select * from unnest($2::uuid[], $3::bigint[]) as given (item, price)),
      before as (select item, reserved from millrace.rows where run = $1 and item = any($2::uuid[]))
     update millrace.rows set reserved = price from given join before using (item)
     where run = $1 and rows.item = given.item returning (price - before.reserved)::float8 as by`,
    [run, [...prices.keys()], [...prices.values()]],
  );
  for (const { by } of rows) ledger.reserved += by;
}

/** What a worker takes. */
export interface Claim {
  readonly worker: string;
  /** The start whose terms the worker has. */
  readonly start: number;
  /** How many rows the worker has. */
  readonly has: number;
  /** At most this many rows of each place. */
  readonly most: Readonly<Record<Place, number>>;
  /** What a row that is sent is expected to cost; `null`: it is not known. */
  readonly priceOf: (task: RowTask) => MicroDollars | null;
}

/**
 * Gives rows to a worker, and reserves their prices, both or neither. The first row that does not fit under the cap stays, with
 * all behind it, and is returned as `unfit`.
 */
export async function claimRows(
  rows: RowsChange,
  claim: Claim,
): Promise<{ readonly claimed: readonly TableRow[]; readonly unfit: TableRow | undefined }> {
  if (rows.ledger.start !== claim.start) return { claimed: [], unfit: undefined };
  const polls = await fetchRows(rows, 'poll', claim.most.poll);
  const most = Math.min(claim.most.send, roomFor(rows.ledger, polls.length), shareOf(rows.ledger, claim));
  const sends = await fetchRows(rows, 'send', most);
  const { on, run, queue, ledger } = rows;
  const claimed: TableRow[] = [...polls];
  let unfit: TableRow | undefined;
  for (const row of sends) {
    const price = claim.priceOf(row.task);
    if (!fitsUnderCap(moneyIn(ledger), price)) unfit ??= row;
    if (unfit !== undefined) continue;
    ledger.reserved += (price ?? 0) - row.reserved;
    claimed.push({ ...row, reserved: price ?? 0 });
  }
  const left = sends.slice(claimed.length - polls.length).map(({ item }) => item);
  await queue.remove(on, run, 'send', left);
  await queue.put(on, run, 'send', left);
  await give(rows, claim.worker, claimed);
  ledger.waiting -= claimed.length;
  ledger.inFlight += claimed.length;
  ledger.polled += polls.length;
  return { claimed, unfit };
}

/** Nobody takes more than an equal share while others would take more. */
function shareOf({ concurrency, seats, hungry }: RunLedger, { worker, has }: Claim): number {
  if (hungry.every((one) => one === worker)) return Infinity;
  return Math.max(Math.ceil(concurrency / seats) - has, 0);
}

/** Jobs that are polled from the beginning hold no slot, but one slot is left beside them. */
function roomFor({ concurrency, inFlight, polled, isStopped }: RunLedger, morePolled: number): number {
  if (isStopped) return 0;
  const sent = inFlight - polled;
  return Math.max(concurrency - inFlight - morePolled, 1 - sent, 0);
}

async function fetchRows(
  { on, queue, run, ledger }: RowsChange,
  place: Place,
  most: number,
): Promise<TableRow[]> {
  if (ledger.isStopped || ledger.waiting === 0 || most < 1) return [];
  const items = await queue.fetch(on, run, place, most);
  return items.length === 0 ? [] : rowsWhere(on, run, 'item = any($2::uuid[])', items);
}

async function give({ on, run }: RowsChange, worker: string, rows: readonly TableRow[]): Promise<void> {
  if (rows.length === 0) return;
  await on.query(
    `update millrace.rows set worker = $2, reserved = given.reserved
     from unnest($3::uuid[], $4::bigint[]) as given (item, reserved) where run = $1 and rows.item = given.item`,
    [run, worker, rows.map(({ item }) => item), rows.map(({ reserved }) => reserved)],
  );
}

/** The rows that a worker has. */
export function rowsOfWorker(on: Transaction, run: number, worker: string): Promise<TableRow[]> {
  return rowsWhere(on, run, 'worker = $2', worker);
}

async function rowsWhere(on: Transaction, run: number, where: string, value: unknown): Promise<TableRow[]> {
  const { rows } = await on.query<Omit<TableRow, 'task'> & { task: string }>(
    `select item, task, reserved::float8, since::float8 from millrace.rows where run = $1 and ${where}`,
    [run, value],
  );
  return rows
    .map(({ task, ...row }) => ({ ...row, task: JSON.parse(task) as RowTask }))
    .sort((one, other) => one.task.row.row - other.task.row.row);
}
