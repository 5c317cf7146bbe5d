import pLimit from 'p-limit';
import { Observable } from 'rxjs';

/** The pool in which pictures are saved, apart from the paid slots. */
export class PicturePool {
  private readonly limit;
  private readonly mostWaiting: number;
  private held: (() => void)[] = [];

  constructor(downloads: number) {
    this.limit = pLimit(downloads);
    this.mostWaiting = 4 * downloads;
  }

  /**
   * Runs the work when its turn comes. What it gives is emitted; unsubscribing does not end it.
   *
   * @param taken Called once few enough are waiting: until then the row keeps its slot, and the fan-out holds back.
   */
  run<T>(work: () => Promise<T>, taken: () => void): Observable<T> {
    return new Observable((subscriber) => {
      const done = (): void => this.release();
      this.limit(async () => {
        this.release();
        return work();
      })
        .finally(done)
        .then(
          (value) => {
            subscriber.next(value);
            subscriber.complete();
          },
          (error: unknown) => subscriber.error(error),
        );
      this.held.push(taken);
      this.release();
    });
  }

  private release(): void {
    // Rows that are held back wait in the pool as well, and count for nothing here.
    while (this.held.length > 0 && this.limit.pendingCount - this.held.length < this.mostWaiting)
      this.held.shift()?.();
  }
}
