import type { StopCause } from '../../batch/stop/stops.js';
import type { Transaction } from '../records/database.js';
import { msUntil, past } from '../records/gate-record.js';
import { ledgerColumns, RunGone, type LedgerRecord } from '../records/ledger-record.js';
import { nextDueSql } from '../records/work-queue.js';
import type { RunState } from './run-store.js';

type Found = LedgerRecord & { fedAll: boolean; stop: StopCause | null; pausedMs: number };

export async function readState(on: Transaction, run: number): Promise<RunState> {
  const text = `select ${ledgerColumns}, fed_all as "fedAll", stop,
      ${msUntil('paused_until')} as "pausedMs"
    from millrace.runs r join millrace.ledgers l using (run) join millrace.gates g using (run) where run = $1`;
  const [found] = (await on.query<Found>(text, [run])).rows;
  if (found === undefined) throw new RunGone(run);
  const { cap, stop, outcomes, fedAll, pausedMs, open, inFlight, saving, ended, reserved, spent, unknown } =
    found;
  return {
    ...{ fedAll, open, inFlight, saving, ended, lastSeq: outcomes, reserved, spent, unknown, pausedMs },
    ...(cap !== null && { cap }),
    ...(stop !== null && { stop }),
  };
}

/** What there is to do in a run at this moment. Times in ms. */
export interface Pulse {
  readonly starts: number;
  readonly startedAt: number;
  readonly stop: StopCause | null;
  readonly open: number;
  readonly inFlight: number;
  readonly concurrency: number;
  readonly rate: number | null;
  readonly recovering: boolean;
  readonly pausedMs: number;
  /** Since the service last gave a good answer to any worker. */
  readonly answeredMsAgo: number;
  /** The database's clock, since the epoch. */
  readonly now: number;
  /** Until the next item of this kind is due; `null`: there is none. */
  readonly submitInMs: number | null;
  readonly pollInMs: number | null;
  readonly downloadInMs: number | null;
}

export async function readPulse(on: Transaction, run: number): Promise<Pulse | undefined> {
  const epochMs = (column: string): string => `extract(epoch from ${column})::float8 * 1000`;
  const text = `select starts, stop, open, in_flight as "inFlight", concurrency, rate, recovering,
      ${epochMs('started_at')} as "startedAt", ${epochMs('clock_timestamp()')} as now,
      ${msUntil('paused_until')} as "pausedMs", ${epochMs(`clock_timestamp() - ${past('heard_at')}`)} as "answeredMsAgo",
      ${nextDueSql('submit')}::float8 as "submitInMs", ${nextDueSql('poll')}::float8 as "pollInMs",
      ${nextDueSql('download')}::float8 as "downloadInMs"
    from millrace.runs join millrace.ledgers using (run) join millrace.gates using (run) where run = $1`;
  return (await on.query<Pulse>(text, [run])).rows[0];
}
