import { defer, filter, finalize, Subject, take, tap, type Observable } from 'rxjs';
import type { NamedPost } from '../../batch/context/callback-port.js';
import type { RowInFlight } from '../../batch/row/row-in-flight.js';

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
