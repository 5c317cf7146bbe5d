import { filter, firstValueFrom, map, startWith, Subject } from 'rxjs';
import { MillraceError } from '../../contract/millrace-error.js';
import type { OpenSteps } from '../requests/exchange.js';

type Step = Parameters<OpenSteps['enter']>[0];

/** What is under way of a client: the runs of its jobs, and requests that are to be answered. */
export class OpenJobs implements OpenSteps {
  private readonly steps = new Set<Step>();
  private readonly changes = new Subject<void>();
  private isClosed = false;

  refusal(): MillraceError | undefined {
    return this.isClosed ? closedError() : undefined;
  }

  enter(step: Step): void {
    this.steps.add(step);
  }

  leave(step: Step): void {
    if (this.steps.delete(step) && this.isClosed) this.changes.next();
  }

  /** Errors all subscribers, and resolves when nothing is under way any more that must not be cut off. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const step of [...this.steps]) step.close?.(closedError());
    const idle = this.changes.pipe(
      startWith(undefined),
      filter(() => this.steps.size === 0),
      map(() => undefined),
    );
    await firstValueFrom(idle);
  }
}

function closedError(): MillraceError {
  const message =
    'the client is closed: nothing more is sent, and a job that was accepted goes on at the service';
  return new MillraceError('closed', message);
}
