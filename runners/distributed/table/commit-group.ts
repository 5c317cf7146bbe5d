import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { CappedValue } from '../../batch/ledger/value-caps.js';
import { fitsUnderCap } from '../../batch/ledger/ledger.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { inTransaction, wakeCollector, wakeWorkers } from '../database/transaction.js';
import { claimJobs, type RowJob } from './claim-jobs.js';
import type { RunDatabase } from './run-database.js';
import { lockLedger, moneyIn, saveLedger } from './run-ledger.js';
import { insertRecords, type NewRecord } from './records.js';
import {
  dealRows,
  type Claimed,
  type ItemValues,
  endRows,
  reserveForRows,
  rowsOfWorker,
  takeRows,
  type Claim,
  type EndedRow,
  type RowsChange,
  type TableRow,
} from './rows.js';
import { stopRun } from './runs.js';
import { noteGroup, noteHunger, type Seat } from './seats.js';

/** A row asks for a larger part of the budget. */
export interface Grant {
  readonly item: string;
  /** What it has. */
  readonly reserved: MicroDollars;
  /** What it needs; `null`: no price is known. */
  readonly price: MicroDollars | null;
}

/** What a worker writes in one transaction. */
export interface Group {
  /** Of the groups of this worker for the run, from 1. */
  readonly number: number;
  readonly records: readonly NewRecord[];
  /** A row has failed with them: the run may have to stop. */
  readonly hasFailed: boolean;
  /** What the records add to the books of the run. */
  readonly booked: { readonly spent: MicroDollars; readonly unknown: MicroDollars };
  /** The same by the values of their rows, in the columns that have caps. @defaultValue no column has one */
  readonly bookedFor?: readonly { readonly values: readonly string[]; readonly amount: MicroDollars }[];
  /** The values of the rows of this group. */
  readonly values?: ItemValues;
  /** Rows that leave the database. */
  readonly ended: readonly EndedRow[];
  /** Rows whose purchase has ended, and that stay. */
  readonly freed: readonly string[];
  /** Jobs that rows claim. */
  readonly jobs: readonly RowJob[];
  /** Rows that ask for a larger part of the budget. */
  readonly grants: readonly Grant[];
  /** Endpoints that the service does not know, with what it said. */
  readonly blocked: Readonly<Record<string, string>>;
  /** What stops the run for all. */
  readonly stop: StopCause | undefined;
  readonly claim: Claim | undefined;
}

export type Granted = boolean | CappedValue;

/** What has become of a group. */
export interface Committed {
  /** The number before that of its first record. */
  readonly after: number;
  /** Jobs that other rows have, with the ids of those rows. */
  readonly owners: ReadonlyMap<RowJob, string>;
  /** For each of `grants`, whether it fits under the cap; a value whose cap it does not fit under. */
  readonly granted: readonly Granted[];
  readonly claimed: readonly TableRow[];
  /** How many rows were left because their values are full. @defaultValue 0 */
  readonly left?: number;
  /** How many rows no worker has. */
  readonly waiting: number;
}

/**
 * Writes a group, and gives the worker new rows in the same transaction. The same group may be written again where the connection broke.
 *
 * @throws {SeatLost} the worker was taken for dead: nothing is written
 * @throws {RunGone}
 */
export function commitGroup(database: RunDatabase, seat: Seat, group: Group): Promise<Committed> {
  const { run } = seat;
  return inTransaction(database.pool, async (on) => {
    // While the ledger is locked all other workers wait: what does not need an answer does not wait for one.
    const [ledger, before] = await Promise.all([lockLedger(on, run), noteGroup(on, seat, group.number)]);
    const { values = new Map<never, never>(), claim } = group;
    const rows: RowsChange = { on, queue: database.queue, run, ledger };
    if (before !== undefined) return recovered(rows, seat, group, before);
    const after = ledger.seq;
    ledger.spent += group.booked.spent;
    ledger.unknown += group.booked.unknown;
    for (const booked of group.bookedFor ?? []) ledger.values.add(booked.values, booked.amount);
    const [, , , owners, dealt] = await Promise.all([
      insertRecords(on, run, ledger, group.records),
      endRows(rows, group.ended, values),
      reserveForRows(rows, new Map(group.freed.map((item) => [item, 0])), values),
      claimJobs(on, run, group.jobs),
      claim === undefined ? [] : dealRows(rows, claim),
    ]);
    const granted = await grant(rows, group);
    const { claimed, unfit, left } =
      claim === undefined ? nothingClaimed : await takeRows(rows, claim, dealt);
    if (group.stop !== undefined) await stopRun(on, run, group.stop);
    if (unfit !== undefined || granted.includes(false))
      await stopRun(on, run, stopCauses.capReached(moneyIn(ledger)));
    await noteBlocked(rows, group.blocked);
    on.withCommit(saveLedger(on, run, ledger));
    // All else is found by the collector's next look: a notification wakes the connections of all who listen.
    const isOver = group.ended.length > 0 && ledger.waiting + ledger.inFlight === 0;
    if (isOver || group.hasFailed) on.withCommit(wakeCollector(on, run));
    if (leavesRoom(rows, seat, group, claimed)) on.withCommit(wakeWorkers(on, run, 'rows'));
    return { after, owners, granted, claimed, left, waiting: ledger.waiting };
  });
}

/** Notes whether the worker would take more rows. Returns whether others that would can, by what has changed. */
function leavesRoom(
  { on, ledger }: RowsChange,
  seat: Seat,
  { claim, ended }: Group,
  claimed: readonly TableRow[],
): boolean {
  const { waiting, inFlight, concurrency, hungry } = ledger;
  const wasHungry = hungry.includes(seat.worker);
  const sends = claimed.filter(({ task }) => task.what === 'send').length;
  const isHungry = claim === undefined ? wasHungry : waiting > 0 && claim.most.send > sends;
  if (isHungry !== wasHungry) on.withCommit(noteHunger(on, seat, isHungry));
  const hasChanged = ended.length > 0 || (wasHungry && !isHungry);
  return hasChanged && waiting > 0 && inFlight < concurrency && hungry.some((one) => one !== seat.worker);
}

const nothingClaimed: Claimed = { claimed: [], unfit: undefined, left: 0 };

async function grant(
  rows: RowsChange,
  { grants, values = new Map<never, never>() }: Pick<Group, 'grants' | 'values'>,
): Promise<Granted[]> {
  const granted: Granted[] = [];
  const { ledger } = rows;
  await ledger.values.look(grants.map(({ item }) => values.get(item) ?? []));
  for (const { item, reserved, price } of grants) {
    const more = price === null ? null : price - reserved;
    const full = ledger.values.isUsed ? ledger.values.full(values.get(item) ?? [], more) : undefined;
    if (full !== undefined) ledger.values.refuse(full);
    const fits = full === undefined && fitsUnderCap(moneyIn(ledger), more);
    if (fits) await reserveForRows(rows, new Map([[item, price ?? 0]]), values);
    granted.push(full ?? fits);
  }
  return granted;
}

async function noteBlocked({ on, run }: RowsChange, blocked: Group['blocked']): Promise<void> {
  if (Object.keys(blocked).length === 0) return;
  const { rows } = await on.query<{ blocked: string }>('select blocked from millrace.runs where run = $1', [
    run,
  ]);
  const known = JSON.parse(rows[0]?.blocked ?? '{}') as Record<string, string>;
  await on.query('update millrace.runs set blocked = $2 where run = $1', [
    run,
    JSON.stringify({ ...blocked, ...known }),
  ]);
}

/** The group was committed: what it did is read back. Jobs that a row claimed then are its own. */
async function recovered(
  { on, run, ledger }: RowsChange,
  { worker }: Seat,
  { jobs, grants, claim }: Group,
  after: number,
): Promise<Committed> {
  const owners = new Map([...(await claimJobs(on, run, jobs))].filter(([job, owner]) => owner !== job.key));
  const mine = await rowsOfWorker(on, run, worker);
  const reserved = new Map(mine.map((row) => [row.item, row.reserved]));
  const granted = grants.map(({ item, price }) =>
    price === null ? ledger.cap === null : (reserved.get(item) ?? 0) >= price,
  );
  return {
    after,
    owners,
    granted,
    claimed: claim === undefined ? [] : mine,
    left: 0,
    waiting: ledger.waiting,
  };
}
