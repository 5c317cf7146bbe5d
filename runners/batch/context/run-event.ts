import { finalize, Observable, ReplaySubject, share } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { SavedImage } from '../journal/record.js';
import type { Plan } from '../manifest/plan-manifest.js';
import type { Summary } from '../sinks/summary-file.js';
import type { Ahead } from '../start/check/ahead.js';
import type { EndStatus } from '../row/row-status.js';
import { iterate } from '../../../src/operators/iterate.js';

/** What a run emits. `finished` is always the last event. Money in micro-dollars. */
export type RunEvent =
  /** The manifest has been checked, and what this start would do is known. Nothing has been sent. */
  | { readonly type: 'checked'; readonly plan: Plan; readonly ahead: Ahead }
  | {
      readonly type: 'started';
      /** Rows that had ended before, and those that this start takes up. */
      readonly rowsTotal: number;
      readonly alreadyEnded: number;
      /** Of the rows taken up: polled by their id, only downloaded, held as `unknown` or `expired`, failed before and sent again. */
      readonly taken: {
        readonly polled: number;
        readonly downloaded: number;
        readonly held: number;
        readonly retried: number;
      };
      readonly plan: Plan;
    }
  /** So many rows may be in flight from now on. */
  | { readonly type: 'concurrency'; readonly rows: number }
  /** Where the rows of a run stand that other processes work on: so many wait, are in flight, are being saved. */
  | {
      readonly type: 'elsewhere';
      readonly open: number;
      readonly inFlight: number;
      readonly saving: number;
      /** No request is sent for so many ms. */
      readonly pausedMs: number;
    }
  /** A request did not reach the service, or no answer came back. */
  | { readonly type: 'unreached'; readonly message: string }
  /** Progress of one row. */
  | { readonly type: 'row'; readonly id: string; readonly row: number; readonly event: JobEvent<unknown> }
  | { readonly type: 'saved'; readonly id: string; readonly image: SavedImage }
  /** The row's outcome is durable, and its lines are in the files. */
  | {
      readonly type: 'ended';
      readonly id: string;
      readonly row: number;
      readonly status: EndStatus;
      readonly cost: MicroDollars | null;
      readonly message?: string;
    }
  /** A row that had ended as unknown goes on: a callback has named its job. `isOfThisStart`: this start had ended it. */
  | { readonly type: 'reopened'; readonly id: string; readonly row: number; readonly isOfThisStart: boolean }
  | { readonly type: 'warning'; readonly code: WarningCode; readonly message: string }
  | {
      readonly type: 'money';
      readonly reserved: MicroDollars;
      readonly spent: MicroDollars;
      readonly unknown: MicroDollars;
      readonly cap?: MicroDollars;
    }
  /** The run is to stop, or has to. Only work that must not be interrupted continues. */
  | { readonly type: 'stopping'; readonly exitCode: number; readonly reason: string }
  | {
      readonly type: 'finished';
      readonly exitCode: number;
      /** One sentence: what happened, and how to go on. */
      readonly reason: string;
      /** Absent where the run's folder was not opened. */
      readonly summary?: Summary;
    };

/**
 * `manifest`: from its check. `held`: rows that a person decides on. `changed`: rows that were bought and differ now.
 * `host`: another than before, where nothing was accepted. `database`: it is away, or back. `workers`: nobody works.
 * `value-cap`: rows of a value do not fit under its cap. `warn-at`: so much of a cap is taken.
 */
export type WarningCode =
  | 'manifest'
  | 'held'
  | 'changed'
  | 'price'
  | 'value-cap'
  | 'warn-at'
  | 'expiry'
  | 'format'
  | 'picture'
  | 'endpoint'
  | 'double'
  | 'journal'
  | 'lock'
  | 'host'
  | 'poll-law'
  | 'database'
  | 'workers';

/** The events of one run, as a stream and for `for await`. All subscribers share it; a late one gets the last event first. */
export class RunStream extends Observable<RunEvent> implements AsyncIterable<RunEvent> {
  /** @param abandoned called when the last subscriber has left before the end */
  constructor(events: Observable<RunEvent>, abandoned: () => void) {
    const once = events.pipe(
      share({
        connector: () => new ReplaySubject<RunEvent>(1),
        resetOnComplete: false,
        resetOnError: false,
        resetOnRefCountZero: false,
      }),
    );
    let listeners = 0;
    let hasEnded = false;
    super((subscriber) => {
      listeners++;
      const listening = once.pipe(
        finalize(() => {
          if (--listeners === 0 && !hasEnded) abandoned();
        }),
      );
      return listening.subscribe({
        next: (event) => {
          hasEnded ||= event.type === 'finished';
          subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
  }

  /** The same events; leaving the loop is leaving the run. */
  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined, undefined> {
    return iterate(this);
  }
}
