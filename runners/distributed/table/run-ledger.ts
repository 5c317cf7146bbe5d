import type { Pool } from 'pg';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { LedgerSnapshot } from '../../batch/ledger/ledger.js';
import type { RowQueue } from '../queue/row-queue.js';
import { ValueLedger } from './value-ledger.js';
import type { Transaction } from '../database/transaction.js';

/** A database that holds runs: its connections, and the queues in it. */
export interface RunDatabase {
  readonly pool: Pool;
  readonly queue: RowQueue;
}

/**
 * The budget and the counts of a run, and the number of its last record, as a transaction changes them. Money in
 * micro-dollars.
 */
export interface RunLedger {
  /** How many batches of rows this start has fed. */
  readonly fed: number;
  seq: number;
  readonly cap: MicroDollars | null;
  reserved: MicroDollars;
  spent: MicroDollars;
  unknown: MicroDollars;
  /** What rows whose price is in no list have cost in this start, and its limit; `null` if there is none. */
  unlisted: MicroDollars;
  readonly agreed: MicroDollars | null;
  /** Rows that no worker has. */
  waiting: number;
  /** The part of `waiting` whose job is polled. */
  toPoll: number;
  /** Rows that workers have. */
  inFlight: number;
  /** The part of `inFlight` that was polled from the beginning. */
  polled: number;
  readonly concurrency: number;
  /** How many workers work on the run; the workers that want more rows than there was room for … */
  readonly seats: number;
  readonly hungry: readonly string[];
  /** … and those of these that have less than their share. */
  readonly starved: readonly string[];
  readonly start: number;
  /** Whether no more rows are taken. */
  isStopped: boolean;
  /** Whether the database was restored, or a standby took its place, since that start. */
  readonly isMoved: boolean;
  /** The caps of values, and the money taken for each. */
  readonly values: ValueLedger;
}

/** Thrown if the run was deleted from the database. */
export class RunGone extends MillraceError {
  static override readonly name: string = 'RunGone';

  constructor(run: number) {
    super(
      'run-gone',
      `The database does not know run ${run} any more: it was deleted there, whole or in part. Start again: if its records are gone too, that start needs --repair, which holds the rows that may have been bought.`,
    );
  }
}

/**
 * Thrown if another start has the run: a copy of its folder was started, or this process was suspended while another one took
 * its place.
 */
export class RunTaken extends MillraceError {
  static override readonly name: string = 'RunTaken';

  constructor() {
    super(
      'held',
      'Another start of this run has taken over its rows, from a copy of the folder or in place of this process. Nothing more is done here: continue where that start is.',
    );
  }
}

/** Refuses a change by any but the latest start of a run. @throws {RunTaken} */
export function refuseTaken(ledger: Pick<RunLedger, 'start'>, start: number): void {
  if (ledger.start !== start) throw new RunTaken();
}

/** SQL for whether the database of a run was restored, or a standby took its place, since its latest start. */
export const isMoved = 'coalesce(timeline <> millrace.timeline(), false) as "isMoved"';

/**
 * Locks a run's ledger until the transaction ends. The transaction saves the ledger before its commit. A transaction
 * that takes further locks takes this one first.
 */
export async function lockLedger(on: Transaction, run: number): Promise<RunLedger> {
  const text = `select fed, seq::float8, cap::float8, reserved::float8, spent::float8, unknown::float8, unlisted::float8, agreed::float8, waiting, to_poll as "toPoll",
      in_flight as "inFlight", polled, concurrency, value_caps as "valueCaps", start, stop is not null as "isStopped", ${isMoved},
      (select count(*)::int from millrace.seats where seats.run = $1) as seats,
      array(select worker::text from millrace.seats where seats.run = $1 and is_hungry) as hungry,
      array(select worker::text from millrace.seats where seats.run = $1 and is_starved) as starved
    from millrace.ledgers join millrace.runs using (run) where run = $1`;
  type Stored = Omit<RunLedger, 'values'> & { readonly valueCaps: string | null };
  // Two statements: one that waits for a lock reads everything except the locked row as it was before the wait.
  const [, read] = await Promise.all([
    on.query('select from millrace.ledgers where run = $1 for update', [run]),
    on.query<Stored>(text, [run]),
  ]);
  const [stored] = read.rows;
  if (stored === undefined) throw new RunGone(run);
  const { valueCaps, ...ledger } = stored;
  const capsUsd = valueCaps === null ? undefined : (JSON.parse(valueCaps) as Record<string, number>);
  return { ...ledger, values: new ValueLedger(on, run, capsUsd) };
}

export async function saveLedger(on: Transaction, run: number, ledger: RunLedger): Promise<void> {
  const { seq, fed, reserved, spent, unknown, unlisted, waiting, toPoll, inFlight, polled } = ledger;
  // Both are sent together.
  await Promise.all([
    on.query(
      `update millrace.ledgers set seq = $2, reserved = $3, spent = $4, unknown = $5, waiting = $6, in_flight = $7, polled = $8, fed = $9,
       to_poll = $10, unlisted = $11
     where run = $1`,
      [run, seq, reserved, spent, unknown, waiting, inFlight, polled, fed, toPoll, unlisted],
    ),
    ledger.values.save(),
  ]);
}

/** The money of a ledger, as the rules about money need it. */
export function moneyIn({ cap, spent, reserved, unknown }: RunLedger): LedgerSnapshot {
  return { spent, reserved, unknown, drift: 0, unpriced: 0, ...(cap !== null && { cap }) };
}
