import { finalize, Observable, ReplaySubject, share } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { SavedImage } from '../journal/record.js';
import type { LedgerSnapshot } from '../ledger/ledger.js';
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
      /** The number of rows that had ended before, plus those that this start works on. */
      readonly rowsTotal: number;
      readonly alreadyEnded: number;
      /**
       * The rows that are continued, by kind: polled by their job id, only downloaded, held as `unknown` or `expired`, sent again
       * after a failure.
       */
      readonly taken: {
        readonly polled: number;
        readonly downloaded: number;
        readonly held: number;
        readonly retried: number;
      };
      readonly plan: Plan;
    }
  /** The number of rows that may be in flight from now on. */
  | { readonly type: 'concurrency'; readonly rows: number }
  /** The rows of a run that other processes work on: how many wait, are in flight, and are being saved. */
  | {
      readonly type: 'elsewhere';
      readonly open: number;
      readonly inFlight: number;
      readonly saving: number;
      /** For this many ms no request is sent. */
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
  /**
   * A row that had ended as unknown continues, because a callback has named its job. `isOfThisStart`: it had ended in
   * this start.
   */
  | { readonly type: 'reopened'; readonly id: string; readonly row: number; readonly isOfThisStart: boolean }
  | { readonly type: 'warning'; readonly code: WarningCode; readonly message: string }
  | ({ readonly type: 'money' } & Pick<LedgerSnapshot, 'reserved' | 'spent' | 'unknown' | 'cap'>)
  /** The run has begun to stop. Only work that must not be interrupted continues. */
  | { readonly type: 'stopping'; readonly exitCode: number; readonly reason: string }
  | {
      readonly type: 'finished';
      readonly exitCode: number;
      /** One sentence on what happened and how to continue. */
      readonly reason: string;
      /** Absent if the run's folder was not opened. */
      readonly summary?: Summary;
    };

/**
 * - `manifest`: from the check of the manifest.
 * - `grown`: whole rows were appended to the manifest, and wait for the next start. Nobody has to do anything.
 * - `held`: rows that a person has to decide on.
 * - `changed`: rows that have changed since they were bought.
 * - `price`: a reported price differs from the expected one.
 * - `value-cap`: rows of a value do not fit under its cap.
 * - `warn-at`: the warning threshold of a cap is reached.
 * - `expiry`: pictures that are not saved and that the service will soon delete.
 * - `format`: a picture has another format than the one asked for.
 * - `picture`: an edit has no picture or another row's, or an output has no file to save.
 * - `endpoint`: the service does not know an endpoint.
 * - `double`: a row may have been paid twice, or two rows may have each other's answers.
 * - `journal`: outputs of paid rows that a repair could not bring back.
 * - `lock`: the folder's lock is not as strong as it should be.
 * - `host`: another host than before, which had accepted nothing.
 * - `poll-law`: what was learned about run times could not be read or kept.
 * - `database`: the connection was lost or restored.
 * - `workers`: no worker is running.
 */
export type WarningCode =
  | 'manifest'
  | 'grown'
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

/** The events of one run, as a stream and for `for await`. All subscribers share them; a late one gets the last event first. */
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

  /** The same events; leaving the loop early unsubscribes. */
  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined, undefined> {
    return iterate(this);
  }
}
