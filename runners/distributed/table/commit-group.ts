import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { inTransaction, wakeCollector, wakeWorkers } from '../database/transaction.js';
import { claimJobs, type RowJob } from './claim-jobs.js';
import type { RunDatabase } from './run-ledger.js';
import { lockLedger, moneyIn, saveLedger, type RunLedger } from './run-ledger.js';
import { insertRecords, type NewRecord } from './records.js';
import {
  dealRows,
  endRows,
  fitsUnderCaps,
  reserveForRows,
  rowsOfWorker,
  shareOf,
  takeRows,
  type Claim,
  type Granted,
  type RowPlace,
  type RowsChange,
  type TableRow,
} from './rows.js';
import { stopRun } from './runs.js';
import { noteGroup, noteHunger, SeatLost, type Hunger, type KnownCommits, type Seat } from './seats.js';

/** Everything that a worker writes in one transaction. */
export interface Group {
  readonly records: readonly NewRecord[];
  /** A row has failed in this group, so the run may have to stop. */
  readonly hasFailed: boolean;
  /** Rows to delete from the database. */
  readonly ended: readonly RowPlace[];
  /** Rows whose purchase has ended but that stay in the database. */
  readonly freed: readonly string[];
  /** Jobs to claim for rows. */
  readonly jobs: readonly RowJob[];
  readonly claim: Claim | undefined;
}

/** A group whose content is decided when its turn comes: it then includes records that arrived while other workers wrote. */
export interface NextGroup {
  readonly known: KnownCommits;
  /** Returns the group; every call returns the same one, because it is written again if the connection breaks. */
  readonly draw: () => Group;
  /**
   * Called before the commit with the jobs of the group that belong to other rows, and the ids of those rows. Returns
   * further records that are written with the group.
   */
  readonly answer: (owners: ReadonlyMap<RowJob, string>) => Promise<readonly NewRecord[]>;
}

/** The result of writing a group. */
export interface Committed {
  /** The number before that of the group's first record. */
  readonly after: number;
  readonly claimed: readonly TableRow[];
  /** How many rows left the database unsent: the caps of their values are reached, or their prices have risen. */
  readonly left: number;
  /** How many rows of the run no worker has. */
  readonly waiting: number;
  /** Whether no other worker works on the run. */
  readonly isAlone: boolean;
}

/**
 * Writes a group and gives the worker new rows in the same transaction. It can be called again with the same group after
 * a broken connection.
 *
 * @throws {SeatLost} if the worker was declared dead; nothing is written then
 * @throws {DatabasePutBack}
 * @throws {RunGone}
 */
export function commitGroup(database: RunDatabase, seat: Seat, next: NextGroup): Promise<Committed> {
  const { run } = seat;
  return inTransaction(database.pool, async (on) => {
    // All other workers wait while the ledger is locked, so independent statements are sent together.
    const [ledger, before] = await Promise.all([lockLedger(on, run), noteGroup(on, seat, next.known)]);
    const group = next.draw();
    const rows: RowsChange = { on, queue: database.queue, run, ledger };
    if (before !== undefined) return recovered(rows, seat, group, before);
    const { records, ended, freed, jobs, claim } = group;
    const after = ledger.seq;
    await ledger.values.read([...new Set([...records, ...ended].map(({ item }) => item))]);
    const [, dealt, accepted] = await Promise.all([
      // This comes first, so that the slots of these rows are free when rows are dealt.
      endRows(rows, ended),
      claim === undefined ? [] : dealRows(rows, claim),
      // A job is claimed in the same commit as the record that names it, so that its row does not wait for two commits.
      jobs.length === 0 ? [] : claimJobs(on, run, jobs).then(next.answer),
      reserveForRows(rows, freed, 0),
    ]);
    on.withCommit(insertRecords(on, run, ledger, [...records, ...accepted]));
    const taken = claim === undefined ? undefined : await takeRows(rows, claim, dealt);
    const { claimed = [], isUnfit = false, left = 0 } = taken ?? {};
    if (isUnfit) await stopRun(on, run, stopCauses.capReached(moneyIn(ledger)));
    on.withCommit(saveLedger(on, run, ledger));
    // Everything else can wait for the collector's next look, because a notification wakes all listeners.
    const isOver = ended.length > 0 && ledger.waiting + ledger.inFlight === 0;
    if (isOver || group.hasFailed) on.withCommit(wakeCollector(on, run));
    if (leavesRoom(rows, seat, group, claimed)) on.withCommit(wakeWorkers(on, run, 'rows'));
    return { after, claimed, left, waiting: ledger.waiting, isAlone: ledger.seats === 1 };
  });
}

/** Notes whether the worker would take more rows. Returns true if another worker that wants more can get rows now. */
function leavesRoom(
  { on, ledger }: RowsChange,
  seat: Seat,
  { claim, ended }: Group,
  claimed: readonly TableRow[],
): boolean {
  const { waiting, inFlight, concurrency, hungry, starved } = ledger;
  const isOther = (one: string): boolean => one !== seat.worker;
  const was: Hunger = { isHungry: hungry.includes(seat.worker), isStarved: starved.includes(seat.worker) };
  const is = claim === undefined ? was : hungerOf(ledger, claim, claimed);
  if (is.isHungry !== was.isHungry || is.isStarved !== was.isStarved) on.withCommit(noteHunger(on, seat, is));
  if (waiting === 0 || inFlight >= concurrency) return false;
  // A worker that has its share takes the slots of its own rows with its next group, so it need not be woken.
  return (
    (ended.length > 0 && starved.some(isOther)) || (was.isHungry && !is.isHungry && hungry.some(isOther))
  );
}

function hungerOf(ledger: RunLedger, claim: Claim, claimed: readonly TableRow[]): Hunger {
  const sends = claimed.filter(({ task }) => task.what === 'send').length;
  const isHungry = ledger.waiting > 0 && claim.most.send > sends;
  return { isHungry, isStarved: isHungry && shareOf(ledger, claim) > sends };
}

/** Reads back the result of a group that was committed before. Its jobs were answered then. */
async function recovered(
  { on, run, ledger }: RowsChange,
  { worker }: Seat,
  { claim }: Group,
  after: number,
): Promise<Committed> {
  const claimed = claim === undefined ? [] : await rowsOfWorker(on, run, worker);
  return { after, claimed, left: 0, waiting: ledger.waiting, isAlone: ledger.seats === 1 };
}

/** A row and the price to reserve for it; `null` if no price is known. */
export interface RowPrice {
  readonly item: string;
  readonly price: MicroDollars | null;
}

/**
 * Raises the reservation that a worker's row was taken with. A price that does not fit under the cap stops the run.
 *
 * @throws {SeatLost} if the worker was declared dead
 */
export function reserveMore(
  { pool, queue }: RunDatabase,
  seat: Seat,
  { item, price }: RowPrice,
): Promise<Granted> {
  const { run, worker } = seat;
  return inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    const [row] = await rowsOfWorker(on, run, worker, item);
    if (row === undefined) throw new SeatLost(seat);
    ledger.values.note([row]);
    await ledger.values.look([item]);
    const granted = fitsUnderCaps(ledger, item, price === null ? null : price - row.reserved);
    if (granted === true) await reserveForRows({ on, queue, run, ledger }, [item], price ?? 0);
    if (granted === false) await stopRun(on, run, stopCauses.capReached(moneyIn(ledger)));
    await saveLedger(on, run, ledger);
    return granted;
  });
}
