import { createHmac } from 'node:crypto';
import {
  catchError,
  concatMap,
  EMPTY,
  filter,
  map,
  merge,
  of,
  take,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import type { JobWebhook } from '../../../src/policy/job-webhook.js';
import {
  createWebhookReceiver,
  type WebhookReceiver,
} from '../../../src/webhooks/create-webhook-receiver.js';
import type { CallbackAddress, HandOn } from '../context/callback-port.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { isEnd } from '../row/row-status.js';

interface CalledRowsParts {
  readonly scheduler: SchedulerLike;
  /** Emits when this process leaves its rows: POSTs without an answer then stop waiting for a callback. */
  readonly leaving$: Observable<unknown>;
  /** Handles genuine callbacks about rows that this process does not have. */
  readonly orphan: HandOn;
  /** Called with each row that callbacks can reach from now on. @defaultValue does nothing */
  readonly listening?: (row: RowInFlight) => void;
  /** Called with each row that ends as unknown. @defaultValue does nothing */
  readonly unanswered?: (row: RowInFlight) => void;
}

/**
 * Receives the callbacks about rows that this process has. A callback URL names the row by its id, and the POST by its
 * number over all starts.
 */
export class CalledRows {
  readonly receiver: WebhookReceiver;

  constructor(
    { url, run, secret }: CallbackAddress,
    private readonly parts: CalledRowsParts,
  ) {
    const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');
    const { scheduler, orphan } = parts;
    this.receiver = createWebhookReceiver({ secret, url, run, hmac, scheduler, orphan });
  }

  /**
   * A callback is answered only once the row's records are durable, which is later than the end of its job. Repeated callbacks
   * are ignored from then on.
   */
  row(row: RowInFlight): JobWebhook {
    const { leaving$, listening, unanswered } = this.parts;
    const { attempts } = row.progress;
    const earlier = row.task.what === 'poll' ? Math.max(attempts - 1, 0) : attempts;
    const webhook = this.receiver.row(row.id, earlier);
    const durable$ = row.progress$.pipe(
      filter(({ status }) => status === 'replied' || isEnd(status)),
      take(1),
    );
    return {
      address: (attempt) => webhook.address(attempt),
      listen: (taking) => {
        const given = webhook.listen((callback) =>
          taking(callback).pipe(
            concatMap((result) => (result === 'settled' ? durable$.pipe(map(() => result)) : of(result))),
            // If the journal fails, the run, or this worker's part in it, ends: the service should try again.
            catchError(() => EMPTY),
          ),
        );
        listening?.(row);
        return given;
      },
      ended: (outcome) => {
        if (outcome.status === 'failed' && outcome.code === 'unknown') unanswered?.(row);
        durable$.subscribe(() => webhook.ended(outcome));
      },
      giveUp$: merge(webhook.giveUp$, leaving$),
      contradicted: (jobId) => webhook.contradicted(jobId),
    };
  }
}
