import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { OutcomeRecord } from '../../batch/journal/record.js';
import type { RowFacts } from '../../batch/row/task.js';
import type { StopCause } from '../../batch/stop/stops.js';
import type { Ending, RowPlace } from '../records/row-record.js';
import type { OpenedRun } from '../records/run-record.js';
import type { RunTerms } from '../records/run-terms.js';
import type { WorkerState } from '../records/worker-record.js';

/** What a collector does with the runs of a database. A run is named by the number that `openRun` gives. */
export interface RunStore {
  /**
   * Begins a run, or another start of it: its terms are these from now on, what stopped it before is forgotten, and rows
   * that nothing was sent of wait to be fed again.
   */
  openRun(key: string, terms: RunTerms): Promise<OpenedRun>;
  /** The number of a run that is there; `undefined`: there is none of this key. */
  findRun(key: string): Promise<number | undefined>;
  /** Rows to be done by this start. One that is on its way or has ended is left as it is. Returns how many were taken. */
  feed(run: number, rows: readonly FedRow[]): Promise<number>;
  /** All rows of the manifest are fed. */
  fedAll(run: number): Promise<void>;
  /** The next endings behind `after`, in the order in which they became durable: none is ever missed behind it. */
  collect(run: number, after: number, limit: number): Promise<readonly EndedRow[]>;
  /** How the given rows stand; rows that the run does not have are missing. */
  find(run: number, ids: readonly string[]): Promise<readonly FoundRow[]>;
  /** Takes up rows again that had ended. Returns the ids that it was true of. */
  takeUp(run: number, ids: readonly string[], to: TakeUp): Promise<readonly string[]>;
  /** Ends the doubt about a held row by hand. One that was settled so before stays as it is. */
  settle(run: number, id: string, settlement: HeldSettlement): Promise<Settled>;
  stateOf(run: number): Promise<RunState>;
  /** What of the run's money is known to who knows all endings up to `after`, and of those behind it the ones that he says. */
  moneyOf(run: number, after: number, isKnown: (row: EndedRow) => Promise<boolean>): Promise<KnownMoney>;
  /** Ends a run before its rows do. The cause that matters most stays. */
  stopRun(run: number, cause: StopCause): Promise<void>;
  /** Declares workers dead that were not seen for a while, and ends what they had sent as unknown. Workers do it too. */
  sweep(): Promise<void>;
  /** Workers that were seen lately, the longest at work first. */
  workers(): Promise<readonly WorkerState[]>;
  /** Drops a run with its rows and queues. */
  forget(run: number): Promise<void>;
}

export interface FedRow {
  readonly facts: RowFacts;
  /** By the price book; `null`: not known. 0 where nothing is bought. */
  readonly price: MicroDollars | null;
  /** POSTs of earlier starts, where the folder knows of some. @defaultValue 0 */
  readonly attempts?: number;
  /** A job that was bought elsewhere: it is polled, and nothing is bought. */
  readonly jobId?: string;
  /** Its id differs from another row's in case alone. @defaultValue false */
  readonly collides?: boolean;
}

/** `buy`: it may be fed again, as it stands now; what may have been paid before stays held. `poll`: its job is asked for once more. */
export type TakeUp = 'buy' | 'poll';

export type HeldSettlement =
  | { readonly jobId: string }
  /** Its ending from now on. */
  | { readonly outcome: OutcomeRecord }
  | { readonly notSent: true };

/** `otherwise`: the row is not held, and not as the settlement says. */
export type Settled = 'settled' | 'missing' | 'otherwise';

/** A row that has ended, with all that its records in a journal say. Times in ms since the epoch. */
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
  /** Its purchase ended in doubt, and it is sent again all the same: another ending follows. */
  readonly isDouble: boolean;
}

export interface FoundRow {
  readonly id: string;
  readonly place: RowPlace;
  readonly attempts: number;
  readonly jobId?: string;
  /** An id that came when the row had ended as unknown. */
  readonly lateJobId?: string;
  readonly ending?: Ending;
  /** Where its ending stands among those of the run. */
  readonly seq?: number;
}

/** Where a run stands. Money in millionths of a dollar. */
export interface RunState {
  readonly fedAll: boolean;
  /** Fed, and not sent yet. */
  readonly open: number;
  /** From before their POST until their outcome is durable. */
  readonly inFlight: number;
  /** Paid, and their picture is being saved by a worker. */
  readonly saving: number;
  readonly ended: number;
  /** The last ending's place: all is collected up to it. */
  readonly lastSeq: number;
  readonly reserved: MicroDollars;
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  readonly cap?: MicroDollars;
  readonly stop?: StopCause;
  /** No request is sent for so many ms. */
  readonly pausedMs: number;
}

/** In millionths of a dollar. */
export interface KnownMoney {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
}
