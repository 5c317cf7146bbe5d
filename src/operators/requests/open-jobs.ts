import { filter, firstValueFrom, startWith, Subject, using, type Observable } from 'rxjs';
import { MillraceError } from '../../contract/millrace-error.js';

/** Under way until it leaves, by identity; `close` errors those that follow it. */
type Step = { close?: (error: unknown) => void };

/** What is under way of a client: the runs of its jobs, and requests that are to be answered. */
export class OpenJobs {
  readonly #steps = new Set<Step>();
  readonly #changes = new Subject<void>();
  #isClosed = false;

  /** Why nothing can begin: the client is closed. */
  refusal(): MillraceError | undefined {
    return this.#isClosed ? closedError() : undefined;
  }

  enter(step: Step): void {
    this.#steps.add(step);
  }

  leave(step: Step): void {
    if (this.#steps.delete(step) && this.#isClosed) this.#changes.next();
  }

  /** The source, which is under way while it is subscribed. */
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

  /** Errors all subscribers, and resolves when nothing is under way any more that must not be cut off. */
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
