import { filter, firstValueFrom, race, Subject, timer } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Run } from '../../batch/context/run.js';
import type { RunState, RunStore } from '../store/run-store.js';
import type { RunNote } from './run-note.js';
import type { SharedLedger } from './shared-ledger.js';

/** Asks the database, again and again while it is away. @throws {DatabaseError} `database-away` once the run stops */
export type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** What the collector of one start needs beside its run in the folder. */
export interface Collection {
  readonly store: RunStore;
  readonly ask: Ask;
  readonly ledger: SharedLedger;
  /** Requests a second, over all workers together. */
  readonly rate: number | undefined;
  /** Money that the database does not count. */
  readonly apart: MicroDollars;
  readonly note: () => RunNote;
  readonly keepNote: (change: Partial<RunNote>) => Promise<void>;
}

/** The run in the database, as the collector last saw it. */
export class RemoteRun {
  private readonly seen = new Subject<void>();

  constructor(
    readonly number: number,
    readonly collection: Collection,
    private latest: RunState,
  ) {}

  get state(): RunState {
    return this.latest;
  }

  /** Counts rows that were fed since the state was read. */
  addOpen(rows: number): void {
    this.latest = { ...this.latest, open: this.latest.open + rows };
  }

  /** Reads where the run stands, and emits it to the display. */
  async look(run: Run): Promise<RunState> {
    const { store, ask, ledger } = this.collection;
    const before = moneyOf(this.latest);
    this.latest = await ask(() => store.stateOf(this.number));
    ledger.update(this.latest);
    const { open, inFlight, saving, pausedMs } = this.latest;
    run.events.next({ type: 'elsewhere', open, inFlight, saving, pausedMs });
    if (moneyOf(this.latest) !== before) {
      const { reserved, spent, unknown, cap } = ledger.snapshot();
      run.events.next({ type: 'money', reserved, spent, unknown, ...(cap !== undefined && { cap }) });
    }
    this.seen.next();
    return this.latest;
  }

  /** Resolves at the next look at the run, when the run stops, or after 5 s. */
  async nextLook(run: Run): Promise<void> {
    const stopped = run.stops.leaving$.pipe(filter((leaving) => leaving !== undefined));
    await firstValueFrom(race(this.seen, stopped, timer(longestMs, run.options.scheduler)));
  }
}

const longestMs = 5_000;

function moneyOf({ reserved, spent, unknown }: RunState): MicroDollars {
  return reserved + spent * 3 + unknown * 7;
}
