import type { Pool } from 'pg';
import type { WebhookReceiver } from '../../../src/webhooks/create-webhook-receiver.js';
import { dropHanded, readBody, readHanded, type HandedCallback } from './handed-callbacks.js';
import { defer, filter, finalize, Subject, take, tap, type Observable } from 'rxjs';
import type { NamedPost } from '../../batch/context/callback-port.js';
import type { RowInFlight } from '../../batch/row/row-in-flight.js';

interface Parts {
  readonly pool: Pool;
  /** Its number in the database, and its name in addresses. */
  readonly run: number;
  readonly name: string;
  readonly receiver: Pick<WebhookReceiver, 'deliver'>;
  /** Called with a callback that nobody takes in now: it stays in the database. */
  readonly left: (callback: HandedCallback) => void;
}

/** Takes in callbacks about rows of this worker that came to other processes. One is gone from the database once what follows is durable. */
export class HandedRows {
  private wanted = new Set<string>();
  private readonly taking = new Set<string>();
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {}

  /** There may be callbacks about these rows. */
  look(rows: Iterable<string>): void {
    for (const row of rows) this.wanted.add(row);
    if (this.wanted.size > 0) this.looking ??= this.work();
  }

  private async work(): Promise<void> {
    const { pool, run } = this.parts;
    while (this.wanted.size > 0) {
      const rows = [...this.wanted];
      this.wanted = new Set();
      // What is missed while the database is away is found by the next look.
      const found = await readHanded(pool, run, rows).catch(() => []);
      for (const handed of found) void this.take(handed).catch(() => undefined);
    }
    // At once: what is wanted from here on begins anew.
    this.looking = undefined;
  }

  private async take(handed: HandedCallback): Promise<void> {
    const { digest, row, attempt } = handed;
    if (this.taking.has(digest)) return;
    this.taking.add(digest);
    try {
      const { pool, run, name, receiver, left } = this.parts;
      const body = await readBody(pool, run, digest);
      if (body === undefined) return;
      if ((await receiver.deliver({ run: name, row, attempt, body })) === undefined) left(handed);
      else await dropHanded(pool, run, [digest]);
    } finally {
      this.taking.delete(digest);
    }
  }
}

/** A POST of a row. */
type Post = Pick<NamedPost, 'row' | 'attempt'>;

/**
 * Rows of this worker that wait to be sent again. Where a callback says that the latest POST of one was accepted after all, it is not
 * sent, and leaves the worker: the collector reads the callback in the database and has the job asked for.
 */
export class RowsSentAgain {
  private readonly waiting = new Map<string, RowInFlight>();
  private readonly named$ = new Subject<Post>();
  private readonly left = new Set<string>();

  /** @param keep makes it durable in the database which job a POST has made */
  constructor(private readonly keep: (post: NamedPost) => Promise<void>) {}

  /** Emits once a callback has named the job of the row's latest POST, while the row waits to be sent again. */
  found(row: RowInFlight): Observable<unknown> {
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

  /** A callback waits in the database that names the job of this POST. */
  named(post: Post): void {
    this.named$.next(post);
  }

  /** A request that was refused has made a job all the same. Once that is durable, its row is not sent again. */
  async contradicted(post: NamedPost): Promise<void> {
    if (!this.isWaitingFor(post)) return;
    await this.keep(post);
    this.named(post);
  }

  /** Whether the row has left for such a callback. True once. */
  takeLeft(id: string): boolean {
    return this.left.delete(id);
  }

  private isWaitingFor({ row, attempt }: Post): boolean {
    return this.waiting.get(row)?.progress.attempts === attempt;
  }
}
