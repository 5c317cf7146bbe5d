import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { iterate } from './iterate.js';

/**
 * One purchase. The first subscriber sends the POST; `retry`, `repeat`, `shareReplay`, a second or a late subscriber join
 * the same job and are told its last event first. To buy again, call `run()` again. `settled` comes last, then completion;
 * a failure is an outcome. It errors only before any POST, on an input that is not of its schema, and when a checkpoint
 * fails; an aborted signal errors with its reason.
 *
 * Unsubscribing before the POST left sends nothing, and a later subscriber goes on. It never aborts a POST on the wire,
 * since the id would be lost: it stops polling and then does what `onUnsubscribe` says.
 */
export interface Job<O> extends Observable<JobEvent<O>>, AsyncIterable<JobEvent<O>> {
  /** Names the job at the gate, the poll schedule and `activity$`. */
  readonly key: string;
  /** The id at the service, once it is known; on a load-balanced route the empty string. */
  readonly jobId: string | undefined;
  /** Status requests sent so far. */
  readonly statusCalls: number;
  /**
   * Cancels the job at the service as soon as its id is known; subscribers see it end. Before the POST has left nothing
   * is sent, and the job ends as `job-cancelled`. Does nothing on a job that has ended.
   */
  cancel(): void;
}

export interface JobFacts {
  readonly key: string;
  readonly jobId: string | undefined;
  readonly statusCalls: number;
  cancel(): void;
}

/** A stream of events in the shape of a job. */
export function asJob<O>(events: Observable<JobEvent<O>>, facts: JobFacts): Job<O> {
  return new StreamedJob(events, facts);
}

class StreamedJob<O> extends Observable<JobEvent<O>> implements Job<O> {
  readonly key: string;

  constructor(
    events: Observable<JobEvent<O>>,
    private readonly facts: JobFacts,
  ) {
    super((subscriber) => events.subscribe(subscriber));
    this.key = facts.key;
  }

  get jobId(): string | undefined {
    return this.facts.jobId;
  }

  get statusCalls(): number {
    return this.facts.statusCalls;
  }

  cancel(): void {
    this.facts.cancel();
  }

  [Symbol.asyncIterator](): AsyncIterator<JobEvent<O>, undefined, undefined> {
    return iterate(this);
  }
}
