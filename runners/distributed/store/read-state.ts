import type { StopCause } from '../../batch/stop/stops.js';
import type { Transaction } from './database.js';
import { msUntil } from './gate-record.js';
import { ledgerColumns, RunGone, type LedgerRecord } from './ledger-record.js';
import type { RunState, WorkerState } from './run-store.js';

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

/** Workers that were heard of within two minutes. */
export async function readWorkers(on: Transaction): Promise<WorkerState[]> {
  const text = `select worker, host, pid, does, extract(epoch from started_at)::float8 * 1000 as "startedAt",
      greatest(extract(epoch from clock_timestamp() - seen_at)::float8 * 1000, 0) as "seenMsAgo"
    from millrace.workers where seen_at > clock_timestamp() - interval '2 minutes' order by started_at, worker`;
  return (await on.query<WorkerState>(text)).rows;
}
