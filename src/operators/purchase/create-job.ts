import { defer, identity, Observable } from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import type { WireRequest } from '../../transport/transport.js';
import { flow, lastOf, receive, type Steps } from '../flow.js';
import { asJob, type Job, type JobFacts, type Watched } from '../job.js';
import type { ClientContext } from '../requests/exchange.js';
import { directAnswer, outcomeOf } from '../requests/outcome-of.js';
import {
  pollToDeadline,
  statusEvent,
  type PollStep,
  type PollTask,
  type StatusEvent,
} from '../requests/poll-until-terminal.js';
import { SharedExecution } from '../shared-execution.js';
import { Cancellation } from './cancellation.js';
import { awaitCheckpoint, type JobSpec } from './job-spec.js';
import { Submission, type Answer, type Buyer } from './submission.js';

/** One purchase: submit → accept → poll → settle. Nothing happens before the first subscription. */
export function createJob<O>(spec: JobSpec<O>, context: ClientContext): Job<O> {
  const purchase = new Purchase(spec, context);
  return asJob(purchase.events, purchase);
}

/**
 * The steps are parts of a flow: `yield stream` emits the events of the stream and goes on when it has completed. What a
 * step has found out stands in the fields, so that a job that was left goes on where it stopped.
 */
class Purchase<O> implements JobFacts, Buyer<O> {
  readonly events: Observable<JobEvent<O>>;
  readonly execution: SharedExecution<JobEvent<O>>;
  isCancelled = false;
  statusCalls = 0;
  private id: string | undefined;
  private hasEnded = false;
  private wasPolled: boolean;
  private due: number | undefined;
  private lastStatus: StatusEvent | undefined;
  private request: WireRequest | undefined;
  private listeners: readonly ((event: Watched) => void)[] = [];
  private readonly cancellation: Cancellation;
  private readonly submission: Submission<O>;

  constructor(
    private readonly spec: JobSpec<O>,
    private readonly context: ClientContext,
  ) {
    this.id = spec.known?.jobId;
    this.wasPolled = spec.known !== undefined;
    this.execution = new SharedExecution<JobEvent<O>>({
      resume: (run) => void flow(() => this.steps()).subscribe(run),
      replay: 1,
      emitted: (event) => {
        if (event.type === 'status') this.lastStatus = event;
        spec.report(event);
        this.notify(event);
      },
      left: () => this.left(),
    });
    this.cancellation = new Cancellation(spec, context, () => this.endAsCancelled());
    this.submission = new Submission(spec, context, this);
    const { untilAborted } = spec;
    const shared = new Observable<JobEvent<O>>((subscriber) => this.execution.join(subscriber));
    this.events =
      untilAborted === identity ? shared : defer(() => (this.hasEnded ? shared : shared.pipe(untilAborted)));
  }

  private *steps(): Steps<JobEvent<O>> {
    const dueAt = this.deadlineAt();
    if (this.isOpen) yield* this.submit(dueAt);
    if (!this.hasEnded) yield* this.poll(dueAt);
  }

  /** Of a job that has no id yet. */
  private *submit(dueAt: number): Steps<JobEvent<O>> {
    const { request } = this.spec;
    this.request ??= typeof request === 'function' ? request() : yield* lastOf(request);
    if (this.request !== undefined) yield* this.submission.run(this.request, dueAt);
  }

  /** The service has answered the POST. */
  *accept(answer: Answer, request: WireRequest): Steps<JobEvent<O>> {
    if (answer.body === 'value') return yield* this.settle(directAnswer(answer.value));
    const { job } = answer;
    this.id = job.id;
    // It may be large, and is not needed while the job runs.
    this.request = undefined;
    if (isTerminal(job.status)) return yield* this.settle(outcomeOf(job, request));
    if (this.isCancelled || !this.execution.isSubscribed) this.abandon();
    const accepted = { type: 'accepted', jobId: job.id } as const;
    yield awaitCheckpoint(this.spec.checkpoint, accepted);
    yield accepted;
    yield statusEvent(job);
  }

  /** Of a job that has an id and has not ended. */
  private *poll(dueAt: number): Steps<JobEvent<O>> {
    const { context, execution, id, spec } = this;
    if (id === undefined || spec.queue === undefined) return;
    const due = { at: dueAt, deadlineMs: spec.options.deadlineMs };
    const polls = pollToDeadline(this.pollTask(id, spec.queue.status(id)), due, context);
    let outcome: Outcome<unknown> | undefined;
    yield receive<PollStep, JobEvent<O>>(polls, (step) => {
      if (step.type !== 'ended') return step;
      ({ outcome } = step);
      return undefined;
    });
    if (outcome !== undefined) yield* execution.critical(this.settle(outcome));
  }

  /** The end: checked, durable, emitted. */
  *settle(outcome: Outcome<unknown>): Steps<JobEvent<O>> {
    this.hasEnded = true;
    const check = this.spec.check(outcome);
    // Without a schema the outcome is at hand.
    const checked = Array.isArray(check) ? (check as Outcome<O>[])[0] : yield* lastOf(check);
    if (checked === undefined) return;
    const settled = { type: 'settled', outcome: checked } as const;
    yield awaitCheckpoint(this.spec.checkpoint, settled);
    yield settled;
  }

  cancel(): void {
    if (this.hasEnded || this.isCancelled) return;
    this.isCancelled = true;
    this.submission.leave();
    this.abandon();
  }

  /** Nobody is subscribed any more. */
  private left(): void {
    if (this.hasEnded) return;
    this.abandon();
    this.endAsCancelled();
  }

  /** Cancels at the service what is to be cancelled there: once, and as soon as the id is known. */
  private abandon(): void {
    const { id, spec } = this;
    const isWanted = !this.isCancelled && spec.options.onUnsubscribe === 'detach';
    if (!isWanted && id !== undefined) this.cancellation.send(id);
  }

  /** Without subscribers nothing is polled, so the answer to /cancel ends the job: its price would stay reserved for ever. */
  private endAsCancelled(): void {
    const { outcome } = this.cancellation;
    if (outcome !== undefined && !this.hasEnded) this.execution.runAlone(() => this.settle(outcome));
  }

  get key(): string {
    return this.spec.key;
  }

  get jobId(): string | undefined {
    return this.spec.purpose === 'route-post' ? '' : this.id;
  }

  get address(): string | undefined {
    const { id, spec } = this;
    return id === undefined ? undefined : spec.queue?.status(id).url;
  }

  watch(listener: (event: Watched) => void): void {
    this.listeners = [...this.listeners, listener];
  }

  refused(): void {
    this.notify({ type: 'refused' });
  }

  private notify(event: Watched): void {
    for (const listener of this.listeners) listener(event);
  }

  get isOpen(): boolean {
    return this.id === undefined && !this.hasEnded;
  }

  private deadlineAt(): number {
    this.due ??= this.context.scheduler.now() + this.spec.options.deadlineMs;
    return this.due;
  }

  private pollTask(jobId: string, request: WireRequest): PollTask {
    const { spec, context } = this;
    const atOnce = this.wasPolled;
    this.wasPolled = true;
    // A job that was submitted before the clock was set back is not asked for hours too late.
    const now = context.scheduler.now();
    return {
      key: spec.key,
      jobId,
      endpoint: spec.endpoint,
      variant: spec.variant,
      submittedAt: Math.min(spec.known?.submittedAt ?? this.submission.sentAt ?? now, now),
      wasExpired: spec.known?.wasExpired === true,
      request,
      schedule: spec.options.poll,
      backoff: spec.options.retry,
      atOnce,
      last: this.lastStatus,
      onCall: () => (this.statusCalls += 1),
    };
  }
}
