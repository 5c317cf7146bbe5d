import type { Pool } from 'pg';
import { defer, filter, finalize, Subject, take, tap, type Observable, type SchedulerLike } from 'rxjs';
import type { WebhookReceiver } from '../../../src/webhooks/create-webhook-receiver.js';
import type { JobWebhook } from '../../../src/policy/job-webhook.js';
import { CalledRows } from '../../batch/callbacks/called-rows.js';
import type { CallbackAddress, JobOfPost } from '../../batch/context/callback-port.js';
import type { PurchaseContext } from '../../batch/context/purchase-context.js';
import type { RowInFlight } from '../../batch/row/row-in-flight.js';
import type { RowTask } from '../../batch/row/row-after.js';
import { dropStored, readBody, readStored, storeJob, type StoredCallback } from './callbacks-table.js';
import { handOnTo, type CalledWorker } from './called-worker.js';

/** How many ended rows are remembered, because their callbacks may still arrive. */
const mostEnded = 1_000;

interface Parts {
  readonly pool: Pool;
  /** The number of the run in the database. */
  readonly run: number;
  /** The database's clock. */
  readonly scheduler: SchedulerLike;
  readonly stopping$: Observable<unknown>;
  /** Repeats a query while the database is away. */
  readonly insist: <T>(question: () => Promise<T>) => Promise<T>;
}

type Post = Pick<JobOfPost, 'row' | 'attempt'>;

/**
 * The callbacks about the rows that one worker has of a run: those that arrive here, and those that others have stored. If a
 * callback shows that the latest POST of a row that waits to be sent again was accepted after all, the row is not sent and leaves
 * the worker: the collector reads the callback in the database and has the job polled.
 */
export class ServedCallbacks implements NonNullable<PurchaseContext['callbacks']> {
  readonly called: CalledRows;
  private readonly stored: StoredCallbacks;
  private readonly waiting = new Map<string, RowInFlight>();
  private readonly named$ = new Subject<Post>();
  private readonly left = new Set<string>();
  private readonly ended = new Set<string>();

  constructor(
    private readonly address: CallbackAddress,
    private readonly parts: Parts,
  ) {
    const { pool, run, scheduler, stopping$, insist } = parts;
    this.called = new CalledRows(address, {
      scheduler,
      orphan: handOnTo(pool, run),
      leaving$: stopping$,
      listening: ({ id, task }) => {
        if (task.what === 'poll') this.stored.look([id]);
      },
    });
    const { receiver } = this.called;
    const left = (post: Post) => this.named$.next(post);
    this.stored = new StoredCallbacks({ pool, run, name: address.run, receiver, left });
    receiver.calls$.subscribe(({ result, row, attempt, jobId }) => {
      if (result === 'double' && row !== undefined && attempt !== undefined && jobId !== undefined)
        insist(() => this.contradicted({ row, attempt, jobId })).catch(() => undefined);
    });
  }

  row(row: RowInFlight): JobWebhook {
    return this.called.row(row);
  }

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

  /** Takes the callbacks that arrive at this worker's port, until the returned function is called. */
  listenAt(port: CalledWorker): () => void {
    return port.serve(this.address.run, this.called);
  }

  look(rows: Iterable<string>): void {
    this.stored.look(rows);
  }

  /** Call this when a stored callback waits for the process that has this row. @param isHere whether this worker has it */
  wasCalled(row: string, isHere: boolean): void {
    if (isHere || this.ended.delete(row)) this.stored.look([row]);
  }

  /** The row has left this worker. Its callbacks are still recognised. */
  rowEnded(id: string): void {
    this.ended.add(id);
    const [oldest] = this.ended;
    if (this.ended.size > mostEnded && oldest !== undefined) this.ended.delete(oldest);
  }

  /** Whether the row has left because a callback named its job. Returns true only once. */
  takeLeft(id: string): boolean {
    return this.left.delete(id);
  }

  /**
   * Which of these rows, which are to be sent again, must not be: a callback that arrived while no worker had the row names the job
   * of its latest POST.
   */
  async namedAmong(tasks: readonly RowTask[]): Promise<ReadonlySet<RowTask>> {
    const { pool, run, insist } = this.parts;
    const stored = await insist(() =>
      readStored(
        pool,
        run,
        tasks.map(({ row }) => row.id),
      ),
    );
    const isNamed = ({ row: { id }, attempts }: RowTask) =>
      stored.some(({ row, attempt }) => row === id && attempt === attempts);
    return new Set(tasks.filter(isNamed));
  }

  /** A refused request has created a job after all. Once that is durable, the row is not sent again. */
  private async contradicted(post: JobOfPost): Promise<void> {
    if (!this.isWaitingFor(post)) return;
    await storeJob(this.parts.pool, this.parts.run, post);
    this.named$.next(post);
  }

  private isWaitingFor({ row, attempt }: Post): boolean {
    return this.waiting.get(row)?.progress.attempts === attempt;
  }
}

interface StoredParts {
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

  constructor(private readonly parts: StoredParts) {}

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
