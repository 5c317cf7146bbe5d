import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { faultOf } from '../../batch/stop/exit-of.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { inTransaction, wakeCollector, wakeWorkers } from '../database/transaction.js';
import { claimJobs, type RowJob } from './claim-jobs.js';
import { lockLedger, moneyIn, saveLedger, type RunDatabase, type RunLedger } from './run-ledger.js';
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
  type RowsChange,
  type TableRow,
} from './rows.js';
import { stopRun } from './runs.js';
import {
  DatabasePutBack,
  noteGroup,
  noteGroupBehind,
  noteHunger,
  SeatLost,
  type Hunger,
  type KnownCommits,
  type Seat,
} from './seats.js';

/** Everything that a worker writes in one transaction. */
export interface Group {
  readonly records: readonly NewRecord[];
  /** A row has failed in this group, so the run may have to stop. */
  readonly hasFailed: boolean;
  readonly ended: readonly Pick<TableRow, 'item' | 'task'>[];
  /** Rows whose purchase has ended but that stay in the database. */
  readonly freed: readonly string[];
  readonly jobs: readonly RowJob[];
  readonly claim: Claim | undefined;
}

/** A group whose content is decided when its turn comes: it then includes records that arrived while other workers wrote. */
export interface NextGroup {
  readonly known: KnownCommits;
  /**
   * Returns the group; every call returns the same one, because it is written again if the connection breaks. Without `mayBuy`
   * it leaves out the claim, and the intents of requests that are not sent yet; and everything about rows of which the database lacks
   * records, because it has only the first `has` groups of this worker.
   */
  readonly draw: (mayBuy: boolean, has: number) => Group;
  /**
   * Called before the commit with the jobs of the group that belong to other rows, and the ids of those rows. Returns
   * further records that are written with the group.
   */
  readonly answer: (owners: ReadonlyMap<RowJob, string>) => Promise<readonly NewRecord[]>;
}

export interface Committed {
  /** The number before that of the group's first record. */
  readonly after: number;
  readonly claimed: readonly TableRow[];
  /** How many rows left the database unsent: the caps of their values are reached, or their prices have risen. */
  readonly left: number;
  readonly waiting: number;
  /** Whether no other worker works on the run. */
  readonly isAlone: boolean;
  /** The database is not the one that the start has begun in: nothing more may be bought. */
  readonly isMoved: boolean;
}

/**
 * Writes a group and gives the worker new rows in the same transaction. It can be called again with the same group after
 * a broken connection.
 *
 * Another database than the start's may have forgotten purchases, so nothing is bought in it, and it stops the run. The ends of
 * requests that the worker has sent are written into it if it has their intents.
 *
 * @throws {SeatLost} if the worker was declared dead; nothing is written then
 * @throws {DatabasePutBack}
 * @throws {RunGone}
 */
export function commitGroup(database: RunDatabase, seat: Seat, next: NextGroup): Promise<Committed> {
  const { run } = seat;
  return inTransaction(database.pool, async (on) => {
    // All other workers wait while the ledger is locked, so independent statements are sent together.
    const [ledger, noted] = await Promise.all([lockLedger(on, run), noteGroup(on, seat, next.known)]);
    const { isMoved } = ledger;
    const { before, has } = noted;
    if (has < next.known.groups) {
      if (!isMoved) throw new DatabasePutBack();
      await noteGroupBehind(on, seat, next.known);
    }
    if (isMoved) await stopRun(on, run, faultOf(new DatabasePutBack('moved')));
    const rows: RowsChange = { on, queue: database.queue, run, ledger };
    const group = next.draw(before !== undefined || !isMoved, has);
    const { records, ended, freed, jobs, claim } = group;
    const counts = () => ({ waiting: ledger.waiting, isAlone: ledger.seats === 1, isMoved });
    if (before !== undefined) {
      // It was committed before the connection broke, and its jobs were answered then.
      const claimed = claim === undefined ? [] : await rowsOfWorker(on, run, seat.worker);
      return { after: before, claimed, left: 0, ...counts() };
    }
    const after = ledger.seq;
    await addUnlisted(rows, records);
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
    return { after, claimed, left, ...counts() };
  });
}

/** Adds what rows without a listed price have cost. If that is more than was agreed to, the run stops, and this group takes no rows. */
async function addUnlisted({ on, run, ledger }: RowsChange, records: readonly NewRecord[]): Promise<void> {
  const { agreed } = ledger;
  const cost = records.reduce((sum, { unlisted = 0 }) => sum + unlisted, 0);
  ledger.unlisted += cost;
  if (cost === 0 || agreed === null || ledger.unlisted <= agreed) return;
  ledger.isStopped = true;
  await stopRun(on, run, stopCauses.spentUnagreed({ spent: ledger.unlisted, agreed }));
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

/** A row and the price to reserve for it; `null` if no price is known. */
export interface RowPrice {
  readonly item: string;
  readonly price: MicroDollars | null;
}

/**
 * Raises the reservation that a worker's row was taken with. A price that does not fit under the cap stops the run.
 *
 * @throws {SeatLost} if the worker was declared dead
 * @throws {DatabasePutBack} if it is another database than the start's, and the worker does not have the row there
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
    // A standby may lack the claim of this row alone.
    if (row === undefined) throw ledger.isMoved ? new DatabasePutBack('moved') : new SeatLost(seat);
    ledger.values.note([row]);
    await ledger.values.look([item]);
    const granted = fitsUnderCaps(ledger, item, price === null ? null : price - row.reserved);
    if (granted === true) await reserveForRows({ on, queue, run, ledger }, [item], price ?? 0);
    if (granted === false) await stopRun(on, run, stopCauses.capReached(moneyIn(ledger)));
    await saveLedger(on, run, ledger);
    return granted;
  });
}
