import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { OutcomeRecord } from '../../batch/journal/record.js';
import type { RowFacts } from '../../batch/row/task.js';
import type { StopCause } from '../../batch/stop/stops.js';
import type { Ending, StoredState } from '../records/row-record.js';
import type { OpenedRun } from '../records/run-record.js';
import type { RunTerms } from '../records/run-terms.js';
import type { WorkerState } from '../records/worker-record.js';

/** What a collector does with the runs of a database. `openRun` gives a run its number. */
export interface RunStore {
  /**
   * Creates a run, or begins another start of it: these are its terms from now on, an earlier stop is forgotten, and rows
   * of which nothing was sent wait to be fed again.
   */
  openRun(key: string, terms: RunTerms): Promise<OpenedRun>;
  /** The number of the run with this key; `undefined`: there is none. */
  findRun(key: string): Promise<number | undefined>;
  /** Adds rows for this start. A row that is in flight or has ended stays as it is. Returns how many were added. */
  feed(run: number, rows: readonly FedRow[]): Promise<number>;
  /** Notes that all rows of the manifest are fed. */
  fedAll(run: number): Promise<void>;
  /** The next endings after `after`, in the order in which they became durable. None appears before one that was returned. */
  collect(run: number, after: number, limit: number): Promise<readonly EndedRow[]>;
  /** The states of these rows; rows that the run does not have are missing. */
  find(run: number, ids: readonly string[]): Promise<readonly FoundRow[]>;
  /** Takes up rows again that had ended. Returns the ids of those that were. */
  takeUp(run: number, ids: readonly string[], to: TakeUp): Promise<readonly string[]>;
  /** Settles a held row by hand. A row that was settled the same way before stays as it is. */
  settle(run: number, id: string, settlement: HeldSettlement): Promise<Settled>;
  stateOf(run: number): Promise<RunState>;
  /** Money booked by endings up to `after`, plus later endings for which `isKnown` is true. */
  moneyOf(run: number, after: number, isKnown: (row: EndedRow) => Promise<boolean>): Promise<KnownMoney>;
  /** Stops a run. The most important cause stays. */
  stopRun(run: number, cause: StopCause): Promise<void>;
  /** Takes workers without a heartbeat for dead, and ends as unknown what they had sent. Workers do it too. */
  sweep(): Promise<void>;
  /** Workers with a recent heartbeat, the oldest worker first. */
  workers(): Promise<readonly WorkerState[]>;
  /** Deletes a run with its rows and queues. */
  forget(run: number): Promise<void>;
}

export interface FedRow {
  readonly facts: RowFacts;
  /** By the price book; `null`: not known; 0: nothing is bought. */
  readonly price: MicroDollars | null;
  /** POSTs of earlier starts that the folder knows of. @defaultValue 0 */
  readonly attempts?: number;
  /** A job that was bought elsewhere: it is polled, and nothing is bought. */
  readonly jobId?: string;
  /** Another row's id differs from this one only in case. @defaultValue false */
  readonly collides?: boolean;
}

/** `buy`: the row may be fed again, as it stands now; what may have been paid before stays held. `poll`: its job is polled once more. */
export type TakeUp = 'buy' | 'poll';

export type HeldSettlement =
  | { readonly jobId: string }
  /** The row ends with this. */
  | { readonly outcome: OutcomeRecord }
  | { readonly notSent: true };

/** `otherwise`: the row is not held, and its state is not what the settlement asks for. */
export type Settled = 'settled' | 'missing' | 'otherwise';

/** A row that has ended, with all that its journal records need. Times in ms since the epoch. */
export interface EndedRow {
  readonly seq: number;
  readonly id: string;
  readonly facts: RowFacts;
  /** POSTs over all starts. 0: nothing was sent. */
  readonly attempts: number;
  readonly price: MicroDollars | null;
  /** Nothing was bought: its job was bought elsewhere. */
  readonly takes: boolean;
  readonly jobId?: string;
  readonly submittedAt?: number;
  readonly ending: Ending;
  /** Its purchase ended as unknown, and the row is sent again all the same: another ending follows. */
  readonly isDouble: boolean;
}

export interface FoundRow {
  readonly id: string;
  readonly place: StoredState;
  readonly attempts: number;
  readonly jobId?: string;
  /** A job id that arrived after the row had ended as unknown. */
  readonly lateJobId?: string;
  readonly ending?: Ending;
  /** The number of its ending among those of the run. */
  readonly seq?: number;
}

/** Where a run stands. Money in millionths of a dollar. */
export interface RunState {
  readonly fedAll: boolean;
  /** Rows that are fed and not sent yet. */
  readonly open: number;
  /** Rows from before their POST until their outcome is durable. */
  readonly inFlight: number;
  /** Paid rows whose picture a worker has to save. */
  readonly saving: number;
  readonly ended: number;
  /** The number of the last ending. */
  readonly lastSeq: number;
  readonly reserved: MicroDollars;
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  readonly cap?: MicroDollars;
  readonly stop?: StopCause;
  /** Ms during which no request is sent. */
  readonly pausedMs: number;
}

/** In millionths of a dollar. */
export interface KnownMoney {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
}
