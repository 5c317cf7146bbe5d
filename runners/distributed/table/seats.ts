import { MillraceError } from '../../../src/contract/millrace-error.js';
import { JournalError } from '../../batch/journal/journal-error.js';
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

/** Thrown if the database lacks records that it had: rows may be bought again that it has forgotten. */
export class DatabasePutBack extends JournalError {
  static override readonly name: string = 'DatabasePutBack';

  constructor() {
    super(
      'journal-io',
      'The database was put back to an earlier state while the run went on: records that it had are gone, and rows may be bought again that it has forgotten. ' +
        'The run was stopped. Put its latest state back, or look at the account and start again with --repair: it holds the rows that may have been bought.',
    );
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

/**
 * Notes that this transaction, which has locked the ledger, writes the group that follows the known ones. If that group was
 * already committed, because a connection broke before its answer, returns the number before its first record.
 *
 * @throws {SeatLost}
 * @throws {DatabasePutBack} if the database lacks what the worker knows to be committed
 */
export async function noteGroup(
  on: Transaction,
  seat: Seat,
  known: KnownCommits,
): Promise<number | undefined> {
  const { run, worker } = seat;
  const { rowCount } = await on.query(
    `update millrace.seats set groups = groups + 1, first = seq from millrace.ledgers
     where seats.run = $1 and worker = $2 and groups = $3 and ledgers.run = $1`,
    [run, worker, known.groups],
  );
  if (rowCount === 1) return undefined;
  const { rows } = await on.query<{ seq: number; groups: number | null; first: number | null }>(
    `select seq::float8, groups::float8, first::float8 from millrace.ledgers
     left join millrace.seats on seats.run = ledgers.run and worker = $2 where ledgers.run = $1`,
    [run, worker],
  );
  const { seq, groups, first } = rows[0] ?? { seq: known.seq, groups: null, first: null };
  if (seq < known.seq || (groups ?? Infinity) < known.groups) throw new DatabasePutBack();
  if (first === null) throw new SeatLost(seat);
  return first;
}
