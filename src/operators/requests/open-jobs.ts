import { filter, firstValueFrom, startWith, Subject, using, type Observable } from 'rxjs';
import { MillraceError } from '../../contract/millrace-error.js';

/** A step in progress, by identity; `close` errors its subscribers. */
type Step = { close?: (error: unknown) => void };

/** Everything of a client that is in progress: the runs of its jobs, and requests that wait for an answer. */
export class OpenJobs {
  readonly #steps = new Set<Step>();
  readonly #changes = new Subject<void>();
  #isClosed = false;

  /** The error of anything that begins after the client is closed. */
  refusal(): MillraceError | undefined {
    return this.#isClosed ? closedError() : undefined;
  }

  /**
   * Call it before a request waits to be sent, and after that wait.
   *
   * @param slot the slot that the request has; it is released if the client is closed
   * @throws MillraceError if the client is closed
   */
  check(slot?: { release(): void }): void {
    const refusal = this.refusal();
    if (refusal === undefined) return;
    slot?.release();
    throw refusal;
  }

  enter(step: Step): void {
    this.#steps.add(step);
  }

  leave(step: Step): void {
    if (this.#steps.delete(step) && this.#isClosed) this.#changes.next();
  }

  /** The source, which counts as in progress while it is subscribed. */
  during<T>(source: Observable<T>): Observable<T> {
    return using(
      () => {
        const step = {};
        this.enter(step);
        return { unsubscribe: () => this.leave(step) };
      },
      () => source,
    );
  }

  /** Errors all subscribers, and resolves when all critical sections have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const step of [...this.#steps]) step.close?.(closedError());
    const isIdle = () => this.#steps.size === 0;
    await firstValueFrom(this.#changes.pipe(startWith(undefined), filter(isIdle)));
  }
}

function closedError(): MillraceError {
  const message =
    'the client is closed: nothing more is sent, and a job that was accepted goes on at the service';
  return new MillraceError('closed', message);
}
