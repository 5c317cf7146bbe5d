import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Queries, Transaction } from '../database/transaction.js';

/** A worker's place at a run. The worker may write as long as it has the seat. */
export interface Seat {
  readonly run: number;
  readonly worker: string;
}

/** Thrown if the worker was declared dead or the run was deleted: the worker may write nothing more. */
export class SeatLost extends MillraceError {
  static override readonly name: string = 'SeatLost';

  constructor({ run }: Seat) {
    super('seat-lost', `this worker was declared dead: its work for run ${run} is no longer written`);
  }
}

const hold =
  'look at the account and start again with --repair: it holds the rows that may have been bought.';
const putBack = {
  behind:
    'The database was put back to an earlier state while the run went on: records that it had are gone, and rows may be bought again that it has forgotten. ' +
    `The run was stopped. Put its latest state back, or ${hold}`,
  moved:
    'The database was restored from a backup, or a standby took its place, while the run went on: it may have forgotten rows that were bought in its last moments, and they may be bought again. ' +
    `The run was stopped. If nothing is missing for certain (an orderly switchover, synchronous replication), say so there: update millrace.runs set timeline = null. If not, ${hold}`,
};

/** Thrown if the database lacks records that it had, or may lack some: rows may be bought again that it has forgotten. */
export class DatabasePutBack extends MillraceError {
  static override readonly name: string = 'DatabasePutBack';

  /** @param how `moved`: it may lack records, because it is not the one that the start has begun in */
  constructor(how: keyof typeof putBack = 'behind') {
    super('journal-io', putBack[how]);
  }
}

/** What a worker knows to be committed from its seat. */
export interface KnownCommits {
  /** The number of its last group; 0 before the first one. */
  readonly groups: number;
  /** The number of the run's last record. */
  readonly seq: number;
}

/**
 * Takes a seat. It can be called again after a broken connection, but not for a seat that groups were written from: they
 * would be taken for those of the worker that has it now.
 *
 * @throws {SeatLost}
 */
export async function takeSeat(on: Queries, seat: Seat): Promise<void> {
  const { rowCount } = await on.query(
    `insert into millrace.seats (run, worker) values ($1, $2)
     on conflict (run, worker) do update set worker = excluded.worker where seats.groups = 0`,
    [seat.run, seat.worker],
  );
  if (rowCount === 0) throw new SeatLost(seat);
}

/** Whether a worker needs more rows after its last claim. */
export interface Hunger {
  /** It would take more rows than there was room for … */
  readonly isHungry: boolean;
  /** … and has less than its share: it waits for a slot of another worker. */
  readonly isStarved: boolean;
}

export async function noteHunger(
  on: Transaction,
  { run, worker }: Seat,
  { isHungry, isStarved }: Hunger,
): Promise<void> {
  await on.query('update millrace.seats set is_hungry = $3, is_starved = $4 where run = $1 and worker = $2', [
    run,
    worker,
    isHungry,
    isStarved,
  ]);
}

/** SQL for the workers that have seats or rows: whoever has rows has a seat, unless somebody has deleted it by hand. */
export const seatsOrRows =
  'select run, worker from millrace.seats union select run, worker from millrace.rows where worker is not null';

/** Returns whether the worker had a seat. */
export async function giveSeatUp(on: Transaction, { run, worker }: Seat): Promise<boolean> {
  const { rowCount } = await on.query('delete from millrace.seats where run = $1 and worker = $2', [
    run,
    worker,
  ]);
  return rowCount === 1;
}

/** What the database has of a worker's groups. */
export interface NotedGroup {
  /** How many of the known groups: fewer if it was put back. */
  readonly has: number;
  /** The number before the first record of the group that follows them, if that was already committed. */
  readonly before?: number;
}

/**
 * Notes that this transaction, which has locked the ledger, writes the group that follows the known ones, unless that group was
 * already committed, because a connection broke before its answer, or the database lacks some of the known ones.
 *
 * @throws {SeatLost}
 * @throws {DatabasePutBack} if the database lacks what the worker knows to be committed, and its seat
 */
export async function noteGroup(on: Transaction, seat: Seat, known: KnownCommits): Promise<NotedGroup> {
  const { run, worker } = seat;
  const { rowCount } = await on.query(
    `update millrace.seats set groups = groups + 1, first = seq from millrace.ledgers
     where seats.run = $1 and worker = $2 and groups = $3 and ledgers.run = $1`,
    [run, worker, known.groups],
  );
  if (rowCount === 1) return { has: known.groups };
  const { rows } = await on.query<{ seq: number; groups: number | null; first: number | null }>(
    `select seq::float8, groups::float8, first::float8 from millrace.ledgers
     left join millrace.seats on seats.run = ledgers.run and worker = $2 where ledgers.run = $1`,
    [run, worker],
  );
  const { seq, groups, first } = rows[0] ?? { seq: known.seq, groups: null, first: null };
  if (groups === null || first === null) throw seq < known.seq ? new DatabasePutBack() : new SeatLost(seat);
  return groups > known.groups ? { has: known.groups, before: first } : { has: groups };
}

/** Notes it in a database that lacks some of the known groups. */
export async function noteGroupBehind(
  on: Transaction,
  { run, worker }: Seat,
  { groups }: KnownCommits,
): Promise<void> {
  await on.query(
    `update millrace.seats set groups = $3::bigint + 1, first = seq from millrace.ledgers
     where seats.run = $1 and worker = $2 and ledgers.run = $1`,
    [run, worker, groups],
  );
}
