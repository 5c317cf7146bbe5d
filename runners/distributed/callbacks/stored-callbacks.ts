import type { Pool } from 'pg';
import type { WebhookReceiver } from '../../../src/webhooks/create-webhook-receiver.js';
import { dropStored, readBody, readStored, type StoredCallback } from './callbacks-table.js';
import { defer, filter, finalize, Subject, take, tap, type Observable } from 'rxjs';
import type { JobOfPost } from '../../batch/context/callback-port.js';
import type { RowInFlight } from '../../batch/row/row-in-flight.js';

interface Parts {
  readonly pool: Pool;
  /** The number of the run in the database, and its name in callback addresses. */
  readonly run: number;
  readonly name: string;
  readonly receiver: Pick<WebhookReceiver, 'deliver'>;
  /** Called with a callback that cannot be handled now: it stays in the database. */
  readonly left: (callback: StoredCallback) => void;
}

/**
 * Handles callbacks about this worker's rows that arrived at other processes. A callback is deleted from the database once its
 * effect is durable.
 */
export class StoredCallbacks {
  private wanted = new Set<string>();
  private readonly taking = new Set<string>();
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {}

  /** Looks for stored callbacks about these rows. */
  look(rows: Iterable<string>): void {
    for (const row of rows) this.wanted.add(row);
    if (this.wanted.size > 0) this.looking ??= this.work();
  }

  private async work(): Promise<void> {
    const { pool, run } = this.parts;
    while (this.wanted.size > 0) {
      const rows = [...this.wanted];
      this.wanted = new Set();
      // If the database is away, the next look finds them.
      const found = await readStored(pool, run, rows).catch(() => []);
      for (const stored of found) void this.take(stored).catch(() => undefined);
    }
    // No await is allowed before this: a request from here on starts a new look.
    this.looking = undefined;
  }

  private async take(stored: StoredCallback): Promise<void> {
    const { digest, row, attempt } = stored;
    if (this.taking.has(digest)) return;
    this.taking.add(digest);
    try {
      const { pool, run, name, receiver, left } = this.parts;
      const body = await readBody(pool, run, digest);
      if (body === undefined) return;
      if ((await receiver.deliver({ run: name, row, attempt, body })) === undefined) left(stored);
      else await dropStored(pool, run, [digest]);
    } finally {
      this.taking.delete(digest);
    }
  }
}

/** A POST of a row. */
type Post = Pick<JobOfPost, 'row' | 'attempt'>;

/**
 * Rows of this worker that wait to be sent again. If a callback shows that the latest POST of a row was accepted after
 * all, the row is not sent and leaves the worker: the collector reads the callback in the database and has the job
 * polled.
 */
export class RowsSentAgain {
  private readonly waiting = new Map<string, RowInFlight>();
  private readonly named$ = new Subject<Post>();
  private readonly left = new Set<string>();

  /** @param keep stores in the database which job a POST has created */
  constructor(private readonly keep: (post: JobOfPost) => Promise<void>) {}

  /** Emits when a callback names the job of the row's latest POST while the row waits to be sent again. */
  jobNamed(row: RowInFlight): Observable<unknown> {
    const { id } = row;
    return defer(() => {
      this.waiting.set(id, row);
      return this.named$.pipe(
        filter((post) => post.row === id && this.isWaitingFor(post)),
        take(1),
        tap(() => this.left.add(id)),
        finalize(() => this.waiting.delete(id)),
      );
    });
  }

  /** Call this when a stored callback names the job of this POST. */
  named(post: Post): void {
    this.named$.next(post);
  }

  /** Call this when a refused request has created a job after all. Once that is durable, the row is not sent again. */
  async contradicted(post: JobOfPost): Promise<void> {
    if (!this.isWaitingFor(post)) return;
    await this.keep(post);
    this.named(post);
  }

  /** Whether the row has left because of such a callback. Returns true only once. */
  takeLeft(id: string): boolean {
    return this.left.delete(id);
  }

  private isWaitingFor({ row, attempt }: Post): boolean {
    return this.waiting.get(row)?.progress.attempts === attempt;
  }
}
