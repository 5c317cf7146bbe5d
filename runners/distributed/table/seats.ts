import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Transaction } from '../database/transaction.js';

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

/**
 * Takes a seat. It can be called again after a broken connection, but not for a seat that groups were written from: they
 * would be taken for those of the worker that has it now.
 *
 * @throws {SeatLost}
 */
export async function takeSeat(on: Pick<Transaction, 'query'>, seat: Seat): Promise<void> {
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

export async function giveSeatUp(on: Transaction, { run, worker }: Seat): Promise<void> {
  await on.query('delete from millrace.seats where run = $1 and worker = $2', [run, worker]);
}

/**
 * Notes that this transaction, which has locked the ledger, writes the group of this number. If the group was already
 * committed, because a connection broke before its answer, returns the number before its first record.
 *
 * @throws {SeatLost}
 */
export async function noteGroup(on: Transaction, seat: Seat, number: number): Promise<number | undefined> {
  const { run, worker } = seat;
  const { rowCount } = await on.query(
    `update millrace.seats set groups = $3, first = seq from millrace.ledgers
     where seats.run = $1 and worker = $2 and groups < $3 and ledgers.run = $1`,
    [run, worker, number],
  );
  if (rowCount === 1) return undefined;
  const { rows } = await on.query<{ first: number }>(
    'select first::float8 from millrace.seats where run = $1 and worker = $2',
    [run, worker],
  );
  if (rows[0] === undefined) throw new SeatLost(seat);
  return rows[0].first;
}
