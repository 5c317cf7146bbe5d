import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { firstValueFrom, merge, Subject, timer } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import type { IntentRecord } from '../../batch/journal/record.js';
import type { RowTask } from '../../batch/row/task.js';
import type { BrokenDatabase } from '../database/database-error.js';
import { RunTaken, type RunDatabase } from '../table/run-ledger.js';
import { readState, type RunState } from '../table/run-state.js';

/**
 * Sends a query to the database and repeats it while the database is away.
 *
 * @throws {DatabaseError} `database-away` if it is still away a while after the run has stopped, or at once if nothing is awaited any more
 */
export type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** The run in the database, as the collector last saw it. */
export class RemoteRun {
  private readonly seen = new Subject<void>();
  /** The purchases of rows that are polled, by their ids. */
  readonly bought = new Map<string, IntentRecord>();
  /** Rows to send whose price is reserved in the ledger that runs share, until their ends are known, by their ids. */
  readonly reserved = new Map<string, { readonly task: RowTask; readonly price: MicroDollars }>();
  /** Money that the database holds for earlier requests of rows that are fed next, and that their jobs replace, by their ids. */
  readonly held = new Map<string, MicroDollars>();
  /** How often this start has sent such a row again after a request that may have been accepted, by its id. */
  readonly doubles = new Map<string, number>();
  /** How many batches of rows this start has fed. */
  batches = 0;
  /** Why nothing more can be written, if that is known: the next look throws it. */
  fault: BrokenDatabase | undefined;
  /** Emits when there may be something new. */
  readonly woken = new Subject<void>();

  constructor(
    readonly database: RunDatabase,
    readonly run: number,
    readonly start: number,
    readonly ask: Ask,
    public state: RunState,
    private readonly local: Run,
  ) {}

  /** Counts rows that were fed since the state was read. */
  addOpen(rows: number): void {
    this.state = { ...this.state, open: this.state.open + rows };
  }

  /**
   * Reads the state of the run and emits it to the display.
   *
   * @throws {RunTaken}
   * @throws {BrokenDatabase}
   */
  async look(): Promise<RunState> {
    if (this.fault !== undefined) throw this.fault;
    this.state = await this.ask(() => readState(this.database, this.run));
    if (this.state.start !== this.start) throw new RunTaken();
    const { open, inFlight, pausedMs } = this.state;
    this.local.events.next({ type: 'elsewhere', open, inFlight, saving: 0, pausedMs });
    this.seen.next();
    return this.state;
  }

  /** Resolves at the next look at the run, or when it stops. */
  async nextLook(): Promise<void> {
    const { stops, options } = this.local;
    await firstValueFrom(merge(this.seen, stops.stopping$, timer(longestMs, options.scheduler)));
  }
}

const longestMs = 5_000;
