import { Subject, type Observable } from 'rxjs';
import type { Outcome } from '../../contract/outcome.js';
import { ownerOf, type JobIds } from '../../policy/job-ids.js';
import type { Reading } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import type { ClientContext, RunningPolls } from '../requests/exchange.js';
import type { StatusEvent } from '../requests/outcome-of.js';
import type { JobSpec } from './job-spec.js';

/** The answer to a POST that was not refused: a job, or the value of a route. */
export type Answer = Extract<Reading, { body: 'job' | 'value' }>;

/**
 * The state of a job so far. It is kept here and not in the steps, so that a job that was left continues where it
 * stopped. The parts of a purchase share it.
 */
export abstract class JobState<O> {
  id: string | undefined;
  /** The service's answer to the POST, until it is processed. */
  answer: { readonly value: Answer; readonly request: WireRequest } | undefined;
  /** How the job has ended. It is settled next. */
  outcome: Outcome<unknown> | undefined;
  isCancelled = false;
  /**
   * True from an intent until the result of its POST is durable, and from the end until that is durable: a run is not
   * stopped in between.
   */
  isCritical = false;
  /** When the last POST left, in ms since the epoch. */
  sentAt: number | undefined;
  attempts = 0;
  /** Whether no POST is on the wire and none was accepted. */
  isUnsent = true;
  /** The POST had no answer, but a callback may name its job. */
  awaitsCallback = false;
  /** The next poll is immediate, because the job was polled before or should have been. */
  isPolledAtOnce: boolean;
  /** Status requests sent so far. */
  statusCalls = 0;
  lastStatus: StatusEvent | undefined;
  polls: RunningPolls | undefined;
  private interruptions: Subject<void> | undefined;
  /** The owners of the ids that the answer and callbacks have named. */
  private owners: Map<string, ReturnType<JobIds['claim']>> | undefined;

  constructor(
    readonly spec: JobSpec<O>,
    readonly context: ClientContext,
  ) {
    this.id = spec.known?.jobId;
    this.isPolledAtOnce = spec.known !== undefined;
  }

  /** Whether nothing was accepted and the job has not ended. */
  get isOpen(): boolean {
    return this.id === undefined && this.answer === undefined && this.outcome === undefined;
  }

  /** The number of the POST that the service may have accepted, from 1; `undefined` if there is none. */
  get openAttempt(): number | undefined {
    if (this.spec.known !== undefined) return 1;
    return this.isUnsent ? undefined : this.attempts;
  }

  /** Whether the intent of a POST is not durable yet. */
  get isAboutToSend(): boolean {
    return this.isUnsent && this.isCritical;
  }

  /** Emits when waits have to end: the job was cancelled, its end is known, or a callback has named it. */
  get interrupted(): Observable<void> {
    return (this.interruptions ??= new Subject());
  }

  /** Ends waits and polls. */
  interrupt(): void {
    this.polls?.end();
    this.interruptions?.next();
  }

  /** Drops data that is not needed after acceptance, which is most of the memory of a waiting job. */
  protected letGo(): void {
    this.spec.request = undefined;
    if (this.spec.webhook !== undefined) return;
    this.owners = undefined;
    this.interruptions = undefined;
  }

  /**
   * Claims a job id. Emits the key of the job that has it already, or `undefined`: then this one has it, whether the
   * answer or a callback named it first.
   */
  claim(jobId: string): Observable<string | undefined> {
    const { endpoint, key } = this.spec;
    const owners = (this.owners ??= new Map<string, ReturnType<JobIds['claim']>>());
    if (!owners.has(jobId)) owners.set(jobId, this.context.jobIds.claim({ endpoint, jobId, key }));
    return ownerOf(owners.get(jobId));
  }

  /** Ends the job. It is settled next even without a subscriber, because its price would stay reserved for ever. */
  end(outcome: Outcome<unknown>): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    if (!this.isFollowed && !this.isCritical) this.start();
    else this.interrupt();
  }

  abstract get isFollowed(): boolean;

  /** Ends a critical section. It is a separate step, so that a job without subscribers stops here and begins nothing more. */
  abstract rest(): Observable<never>;

  /** Called when the POST was provably refused, so that nothing has been bought so far. */
  abstract refused(): void;

  /** Runs the remaining steps, even while nobody is subscribed. */
  protected abstract start(): void;
}
