import { randomUUID } from 'node:crypto';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { fitsUnderCap } from '../../batch/ledger/ledger.js';
import type { CappedValue } from '../../batch/ledger/value-caps.js';
import type { RowTask } from '../../batch/row/row-after.js';
import type { Queries, Transaction } from '../database/transaction.js';
import { places, queueSchema, type Place, type QueuedRow, type RowQueue } from '../queue/row-queue.js';
import { moneyIn, type RunDatabase, type RunLedger } from './run-ledger.js';

/** A row of the table: one that has not ended. */
export interface TableRow {
  /** Its name in the queue. */
  readonly item: string;
  readonly task: RowTask;
  readonly reserved: MicroDollars;
  /** The number of the last record before it was added: its own records have higher numbers. */
  readonly since: number;
}

/** A transaction that changes the rows of a run, with the run's locked ledger. */
export interface RowsChange {
  readonly on: Transaction;
  readonly queue: RowQueue;
  readonly run: number;
  readonly ledger: RunLedger;
}

/**
 * A new name for the row at this place of a batch. Rows are dealt in the order of their names, which is the order in
 * which they were added.
 */
export function itemAt(place: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const count = place.toString(16).padStart(4, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}${random.slice(21)}`;
}

export async function addRows(
  { on, queue, run, ledger }: RowsChange,
  rows: readonly Omit<TableRow, 'since'>[],
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
      rows.map(({ task }) => task.what),
      rows.map(({ reserved }) => reserved),
    ],
  );
  for (const place of places) {
    const placed = rows.filter(({ task }) => task.what === place);
    await queue.put(on, run, place, placed.map(queued));
    if (place === 'poll') ledger.toPoll += placed.length;
  }
  ledger.waiting += rows.length;
  ledger.values.note(rows);
  for (const { item, reserved } of rows) {
    ledger.reserved += reserved;
    ledger.values.add(item, reserved);
  }
}

function queued({ item, task }: Pick<TableRow, 'item' | 'task'>): QueuedRow {
  return { item, priority: task.row.priority ?? 0 };
}

/** Deletes rows that a worker has, and releases their reservations. Their slots are free at once. */
export async function endRows(
  { on, run, ledger }: RowsChange,
  ended: readonly Pick<TableRow, 'item' | 'task'>[],
): Promise<void> {
  if (ended.length === 0) return;
  // This comes before the first await, because rows are dealt meanwhile.
  ledger.inFlight -= ended.length;
  ledger.polled -= ended.filter(({ task }) => task.what === 'poll').length;
  const { rows } = await on.query<{ item: string; reserved: number }>(
    'delete from millrace.rows where run = $1 and item = any($2::uuid[]) returning item, reserved::float8',
    [run, ended.map(({ item }) => item)],
  );
  for (const { item, reserved } of rows) {
    ledger.reserved -= reserved;
    ledger.values.add(item, -reserved);
  }
}

export async function reserveForRows(
  { on, run, ledger }: RowsChange,
  items: readonly string[],
  price: MicroDollars,
): Promise<void> {
  if (items.length === 0) return;
  const { rows } = await on.query<{ item: string; by: number }>(
    `with before as (select item, reserved from millrace.rows where run = $1 and item = any($2::uuid[]))
     update millrace.rows set reserved = $3::bigint from before
     where run = $1 and rows.item = before.item returning rows.item, ($3::bigint - before.reserved)::float8 as by`,
    [run, items, price],
  );
  for (const { item, by } of rows) {
    ledger.reserved += by;
    ledger.values.add(item, by);
  }
}

/** A worker's request for rows. */
export interface Claim {
  readonly worker: string;
  /** The start whose terms the worker has. */
  readonly start: number;
  /** How many rows the worker has already. */
  readonly has: number;
  /** The maximum number of rows from each queue. */
  readonly most: Readonly<Record<Place, number>>;
  /** The expected price of a row that is sent; `null` if it is not known. */
  readonly priceOf: (task: RowTask) => MicroDollars | null;
}

/** Takes waiting rows from the queues, as many as the worker may have. `takeRows` assigns them to it. */
export async function dealRows(rows: RowsChange, claim: Claim): Promise<readonly TableRow[]> {
  const { ledger } = rows;
  if (ledger.start !== claim.start || ledger.isStopped || ledger.waiting === 0) return [];
  const polls = ledger.toPoll === 0 ? [] : await deal(rows, 'poll', claim.most.poll);
  const most = Math.min(claim.most.send, roomFor(ledger, polls.length), shareOf(ledger, claim));
  return [...polls, ...(await deal(rows, 'send', most))];
}

async function deal({ on, queue, run }: RowsChange, place: Place, most: number): Promise<TableRow[]> {
  const items = await queue.deal(on, run, place, most);
  return items.length === 0 ? [] : rowsWhere(on, run, 'item = any($2::uuid[])', items);
}

/**
 * Assigns rows to a worker and reserves their prices. If a row does not fit under the cap, it and all rows after it stay in the
 * queue, and `isUnfit` is true. Rows that do not fit under the cap of their value, or that cost more than is reserved in the
 * ledger that runs share, are deleted and counted in `left`.
 */
export async function takeRows(
  { on, queue, run, ledger }: RowsChange,
  claim: Claim,
  dealt: readonly TableRow[],
): Promise<Claimed> {
  const { values } = ledger;
  values.note(dealt);
  await values.look(dealt.map(({ item }) => item));
  const claimed: TableRow[] = [];
  const dropped: string[] = [];
  const stay: TableRow[] = [];
  for (const row of dealt) {
    const { item, task } = row;
    const price = task.what === 'poll' ? row.reserved : claim.priceOf(task);
    // Whether the price is above the one that is reserved in the ledger that runs share: the collector has to reserve it first.
    if (task.what === 'send' && task.mostPrice !== undefined && (price ?? 0) > task.mostPrice) {
      dropped.push(item);
      continue;
    }
    const fits = task.what === 'poll' || (stay.length === 0 && fitsUnderCaps(ledger, item, price));
    if (fits === false) stay.push(row);
    else if (fits !== true) dropped.push(item);
    else {
      const reserved = price ?? 0;
      ledger.reserved += reserved - row.reserved;
      values.add(item, reserved - row.reserved);
      claimed.push({ ...row, reserved });
    }
  }
  const polls = claimed.filter(({ task }) => task.what === 'poll').length;
  await queue.put(on, run, 'send', stay.map(queued));
  on.withCommit(give(on, run, claim.worker, claimed));
  if (dropped.length > 0)
    on.withCommit(
      on.query('delete from millrace.rows where run = $1 and item = any($2::uuid[])', [run, dropped]),
    );
  ledger.waiting -= dropped.length + claimed.length;
  ledger.toPoll -= polls;
  ledger.inFlight += claimed.length;
  ledger.polled += polls;
  return { claimed, isUnfit: stay.length > 0, left: dropped.length };
}

/** Whether an amount fits under the cap of the run; or the value whose cap has no room for it. */
export type Granted = boolean | CappedValue;

export function fitsUnderCaps(ledger: RunLedger, item: string, more: MicroDollars | null): Granted {
  return ledger.values.full(item, more) ?? fitsUnderCap(moneyIn(ledger), more);
}

export interface Claimed {
  readonly claimed: readonly TableRow[];
  /** A row did not fit under the cap. */
  readonly isUnfit: boolean;
  /** Number of rows that this start skips. */
  readonly left: number;
}

/** The most rows to take at once, because all workers wait for the transaction. */
const mostTaken = 1_000;
/** A claim costs as much as ten records, so a worker gets this many also if it has more rows than others. */
const leastShare = 100;

/**
 * How many more rows the worker may take now. While other workers want more than there are slots, none gets more than an equal share
 * of the slots. Where rows are fewer than slots, they are shared equally, and a worker that comes back sooner than others gets few.
 */
export function shareOf(
  { concurrency, seats, hungry, inFlight, waiting }: RunLedger,
  { worker, has }: Claim,
): number {
  const areOthersHungry = hungry.some((one) => one !== worker);
  const equal = Math.ceil((areOthersHungry ? concurrency : inFlight + waiting) / seats) - has;
  return Math.min(Math.max(equal, areOthersHungry ? 0 : leastShare), mostTaken);
}

/** The number of slots for rows to send. Polled rows take slots too, but while no row is sent, one slot is kept for one. */
function roomFor({ concurrency, inFlight, polled }: RunLedger, morePolled: number): number {
  return Math.max(concurrency - inFlight - morePolled, inFlight - polled < 1 ? 1 : 0);
}

async function give(on: Transaction, run: number, worker: string, rows: readonly TableRow[]): Promise<void> {
  if (rows.length === 0) return;
  await on.query(
    `update millrace.rows set worker = $2, reserved = given.reserved
     from unnest($3::uuid[], $4::bigint[]) as given (item, reserved) where run = $1 and rows.item = given.item`,
    [run, worker, rows.map(({ item }) => item), rows.map(({ reserved }) => reserved)],
  );
}

export function rowsOfWorker(on: Queries, run: number, worker: string, item?: string): Promise<TableRow[]> {
  if (item === undefined) return rowsWhere(on, run, 'worker = $2', worker);
  return rowsWhere(on, run, 'worker = $2 and item = $3', worker, item);
}

async function rowsWhere(on: Queries, run: number, where: string, ...values: unknown[]): Promise<TableRow[]> {
  const { rows } = await on.query<Omit<TableRow, 'task'> & { task: string }>(
    `select item, task, reserved::float8, since::float8 from millrace.rows where run = $1 and ${where}`,
    [run, ...values],
  );
  return rows
    .map(({ task, ...row }) => ({ ...row, task: taskIn(task) }))
    .sort(({ task: { row: one } }, { task: { row: other } }) => {
      const byPriority = (other.priority ?? 0) - (one.priority ?? 0);
      return byPriority === 0 ? one.row - other.row : byPriority;
    });
}

const noColumns = Object.freeze({});

/** A worker may have tens of thousands of rows: those without columns of the user share an object. */
function taskIn(text: string): RowTask {
  const task = JSON.parse(text) as RowTask;
  if (Object.keys(task.row.columns).length > 0) return task;
  return { ...task, row: { ...task.row, columns: noColumns } };
}

/** Frees the space of deleted rows. PostgreSQL's own vacuum runs at most once a minute, and later for small tables. */
export async function vacuumRows({ pool }: Pick<RunDatabase, 'pool'>): Promise<void> {
  await pool.query(`vacuum (truncate false) millrace.rows, ${queueSchema}.job`);
}
