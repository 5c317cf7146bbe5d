import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { LedgerSnapshot } from '../../batch/ledger/ledger.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { pausedMs } from './runs.js';
import { RunGone, type RunDatabase, type RunLedger } from './run-ledger.js';
import { deadAfterMs } from './worker-record.js';

/** The state of a run. Money in micro-dollars. */
export interface RunState
  extends
    Readonly<Pick<RunLedger, 'start' | 'seq' | 'fed' | 'inFlight'>>,
    Pick<LedgerSnapshot, 'reserved' | 'spent' | 'unknown' | 'cap'> {
  /** Rows that no worker has. */
  readonly open: number;
  readonly stop?: StopCause;
  /** Endpoints that the service does not know, with its message. */
  readonly blocked: Readonly<Record<string, string>>;
  /** Ms until requests are sent again. */
  readonly pausedMs: number;
  /** Workers of the run with a recent heartbeat. */
  readonly workers: number;
  /** Values whose caps had no room for a row, and how many rows were skipped for each. */
  readonly full: readonly FullPlace[];
  /** The different reasons why workers gave their rows of this start back. */
  readonly troubles: readonly StopCause[];
}

/** A value whose cap is reached, by the place of its column among those with caps. */
export interface FullPlace {
  readonly place: number;
  readonly value: string;
  readonly taken: MicroDollars;
  readonly rows: number;
}

/** @throws {RunGone} */
export async function readState({ pool }: Pick<RunDatabase, 'pool'>, run: number): Promise<RunState> {
  const { rows } = await pool.query<Stored>(
    `select start, seq::float8, fed, waiting as open, in_flight as "inFlight", reserved::float8, spent::float8, unknown::float8, cap::float8,
       stop, blocked, ${pausedMs},
       array(select distinct cause from millrace.troubles t where t.run = runs.run) as troubles,
       array(select json_build_array(place, value, taken, refused)::text from millrace.value_ledgers v
        where v.run = runs.run and refused > 0 order by place, value limit 1000) as "full",
       (select count(*)::int from millrace.seats s join millrace.workers w using (worker)
        where s.run = runs.run and seen_at > clock_timestamp() - $2::float8 * interval '1 ms') as workers
     from millrace.runs join millrace.ledgers using (run) join millrace.gates using (run) where run = $1`,
    [run, deadAfterMs],
  );
  const [stored] = rows;
  if (stored === undefined) throw new RunGone(run);
  const { cap, stop, blocked, troubles, full, ...state } = stored;
  return {
    ...state,
    ...(cap !== null && { cap }),
    ...(stop !== null && { stop: JSON.parse(stop) as StopCause }),
    blocked: JSON.parse(blocked) as Record<string, string>,
    full: full.map(fullPlace),
    troubles: troubles.map((cause) => JSON.parse(cause) as StopCause),
  };
}

type Stored = Omit<RunState, 'cap' | 'stop' | 'blocked' | 'troubles' | 'full'> & {
  readonly full: readonly string[];
  readonly cap: MicroDollars | null;
  readonly stop: string | null;
  readonly blocked: string;
  readonly troubles: readonly string[];
};

function fullPlace(text: string): FullPlace {
  const [place, value, taken, rows] = JSON.parse(text) as [number, string, number, number];
  return { place, value: JSON.parse(value) as string, taken, rows };
}
