import { filter, firstValueFrom, map, startWith, Subject, type Subscriber } from 'rxjs';
import { MillraceError } from '../../contract/millrace-error.js';
import type { OpenSteps } from '../requests/exchange.js';

/** The jobs of a client that somebody follows, and the steps of theirs that must not be cut off. */
export class OpenJobs implements OpenSteps {
  private readonly followers = new Set<Subscriber<never>>();
  private readonly critical = new Set<object>();
  private readonly changes = new Subject<void>();
  private isClosed = false;

  follow(subscriber: Subscriber<never>): boolean {
    if (this.isClosed) {
      subscriber.error(closedError());
      return false;
    }
    this.followers.add(subscriber);
    subscriber.add(() => this.followers.delete(subscriber));
    return true;
  }

  begin(step: object): void {
    this.critical.add(step);
  }

  end(step: object): void {
    if (this.critical.delete(step) && this.isClosed) this.changes.next();
  }

  /** Errors all subscribers, and resolves when nothing is under way that must not be cut off. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const subscriber of [...this.followers]) subscriber.error(closedError());
    const idle = this.changes.pipe(
      startWith(undefined),
      filter(() => this.critical.size === 0),
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
