import { randomUUID } from 'node:crypto';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { fitsUnderCap } from '../../batch/ledger/ledger.js';
import type { RowTask } from '../../batch/row/row-after.js';
import type { Transaction } from '../database/transaction.js';
import { places, type Place, type QueuedRow, type RowQueue } from '../queue/row-queue.js';
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
  for (const place of places) {
    await queue.put(on, run, place, rows.filter(({ task }) => placeOf(task) === place).map(queued));
  }
  ledger.waiting += rows.length;
  ledger.toPoll += rows.filter(({ task }) => placeOf(task) === 'poll').length;
  for (const { reserved, task } of rows) {
    ledger.reserved += reserved;
    ledger.values.add(ledger.values.valuesOf(task), reserved);
  }
}

function queued({ item, task }: Pick<TableRow, 'item' | 'task'>): QueuedRow {
  return { item, priority: task.row.priority ?? 0 };
}

/** The values of rows in the columns that have caps, by their names in the queue. */
export type ItemValues = ReadonlyMap<string, readonly string[]>;

/** A row that leaves the database. */
export interface EndedRow {
  readonly item: string;
  readonly place: Place;
}

/** Deletes rows that a worker has, whose slots are free at once, and frees their part of the budget. */
export async function endRows(
  { on, queue, run, ledger }: RowsChange,
  ended: readonly EndedRow[],
  values: ItemValues,
): Promise<void> {
  if (ended.length === 0) return;
  ledger.inFlight -= ended.length;
  const at = (place: Place) => ended.flatMap((row) => (row.place === place ? [row.item] : []));
  ledger.polled -= at('poll').length;
  const [{ rows }] = await Promise.all([
    on.query<{ item: string; reserved: number }>(
      'delete from millrace.rows where run = $1 and item = any($2::uuid[]) returning item, reserved::float8',
      [run, ended.map(({ item }) => item)],
    ),
    ...places.map((place) => queue.remove(on, run, place, at(place))),
  ]);
  for (const { item, reserved } of rows) {
    ledger.reserved -= reserved;
    ledger.values.add(values.get(item), -reserved);
  }
}

/** Changes the part of the budget that rows have. */
export async function reserveForRows(
  { on, run, ledger }: RowsChange,
  prices: ReadonlyMap<string, MicroDollars>,
  values: ItemValues,
): Promise<void> {
  if (prices.size === 0) return;
  const { rows } = await on.query<{ item: string; by: number }>(
    `with given as (select * from unnest($2::uuid[], $3::bigint[]) as given (item, price)),
      before as (select item, reserved from millrace.rows where run = $1 and item = any($2::uuid[]))
     update millrace.rows set reserved = price from given join before using (item)
     where run = $1 and rows.item = given.item returning rows.item, (price - before.reserved)::float8 as by`,
    [run, [...prices.keys()], [...prices.values()]],
  );
  for (const { item, by } of rows) {
    ledger.reserved += by;
    ledger.values.add(values.get(item), by);
  }
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

/** Deals rows that wait, as many as a worker may have: `takeRows` gives them to it. */
export async function dealRows(rows: RowsChange, claim: Claim): Promise<readonly TableRow[]> {
  const { ledger } = rows;
  if (ledger.start !== claim.start || ledger.isStopped || ledger.waiting === 0) return [];
  const polls = ledger.toPoll === 0 ? [] : await fetchRows(rows, 'poll', claim.most.poll);
  const most = Math.min(claim.most.send, roomFor(ledger, polls.length), shareOf(ledger, claim));
  return [...polls, ...(await fetchRows(rows, 'send', most))];
}

/**
 * Gives rows to a worker, and reserves their prices, both or neither. The first row that does not fit under the cap stays, with
 * all behind it, and is returned as `unfit`. Rows that do not fit under the cap of their value leave the database: `left` counts them.
 */
export async function takeRows(
  { on, queue, run, ledger }: RowsChange,
  claim: Claim,
  dealt: readonly TableRow[],
): Promise<Claimed> {
  const claimed = dealt.filter(({ task }) => task.what === 'poll');
  const polls = claimed.length;
  let unfit: TableRow | undefined;
  const full: string[] = [];
  const sends = dealt.slice(polls);
  await ledger.values.look(sends.map(({ task }) => ledger.values.valuesOf(task)));
  for (const row of sends) {
    const price = claim.priceOf(row.task);
    const values = ledger.values.valuesOf(row.task);
    const why = unfit === undefined ? ledger.values.full(values, price) : undefined;
    if (why !== undefined) {
      ledger.values.refuse(why);
      full.push(row.item);
      continue;
    }
    if (!fitsUnderCap(moneyIn(ledger), price)) unfit ??= row;
    if (unfit !== undefined) continue;
    ledger.reserved += (price ?? 0) - row.reserved;
    ledger.values.add(values, (price ?? 0) - row.reserved);
    claimed.push({ ...row, reserved: price ?? 0 });
  }
  const taken = new Set([...claimed.map(({ item }) => item), ...full]);
  const left = sends.filter(({ item }) => !taken.has(item));
  await queue.remove(on, run, 'send', [...left.map(({ item }) => item), ...full]);
  await queue.put(on, run, 'send', left.map(queued));
  on.withCommit(give(on, run, claim.worker, claimed));
  if (full.length > 0) on.withCommit(dropRows(on, run, full));
  ledger.waiting -= full.length;
  ledger.waiting -= claimed.length;
  ledger.toPoll -= polls;
  ledger.inFlight += claimed.length;
  ledger.polled += polls;
  return { claimed, unfit, left: full.length };
}

export interface Claimed {
  readonly claimed: readonly TableRow[];
  readonly unfit: TableRow | undefined;
  /** Rows that are not done in this start. */
  readonly left: number;
}

async function dropRows(on: Transaction, run: number, items: readonly string[]): Promise<void> {
  await on.query('delete from millrace.rows where run = $1 and item = any($2::uuid[])', [run, items]);
}

/** Nobody takes more than an equal share while others would take more. */
function shareOf({ concurrency, seats, hungry }: RunLedger, { worker, has }: Claim): number {
  if (hungry.every((one) => one === worker)) return Infinity;
  return Math.max(Math.ceil(concurrency / seats) - has, 0);
}

/** Jobs that are polled from the beginning hold no slot, but one slot is left beside them. */
function roomFor({ concurrency, inFlight, polled }: RunLedger, morePolled: number): number {
  const sent = inFlight - polled;
  return Math.max(concurrency - inFlight - morePolled, 1 - sent, 0);
}

async function fetchRows({ on, queue, run }: RowsChange, place: Place, most: number): Promise<TableRow[]> {
  const items = await queue.fetch(on, run, place, most);
  return items.length === 0 ? [] : rowsWhere(on, run, 'item = any($2::uuid[])', items);
}

async function give(on: Transaction, run: number, worker: string, rows: readonly TableRow[]): Promise<void> {
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
    .sort(({ task: { row: one } }, { task: { row: other } }) => {
      const byPriority = (other.priority ?? 0) - (one.priority ?? 0);
      return byPriority === 0 ? one.row - other.row : byPriority;
    });
}
