import {
  AsyncSubject,
  defer,
  EMPTY,
  identity,
  isObservable,
  Observable,
  of,
  Subject,
  type Subscriber,
} from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import type { WireRequest } from '../../transport/transport.js';
import { flow, lastOf, receive, type Step, type Steps } from '../flow.js';
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
import { cancelAtService } from './cancel-at-service.js';
import { JobCallbacks, type CalledJob } from './job-callbacks.js';
import { awaitCheckpoint, type JobSpec } from './job-spec.js';
import { PurchaseRun, type Runner } from './purchase-run.js';
import { Submission, type Answer, type Buyer } from './submission.js';

/** One purchase: submit → accept → poll → settle. Nothing happens before the first subscription. */
export function createJob<O>(spec: JobSpec<O>, context: ClientContext): Job<O> {
  const purchase = new Purchase(spec, context);
  return asJob(purchase.events, purchase);
}

/** What a step has found out stands in the fields, so that a job that was left goes on where it stopped. */
class Purchase<O> implements JobFacts<O>, Buyer, CalledJob, Runner<JobEvent<O>> {
  readonly events: Observable<JobEvent<O>>;
  readonly steps: Observable<JobEvent<O>>;
  isCancelled = false;
  statusCalls = 0;
  private readonly run: PurchaseRun<JobEvent<O>>;
  private readonly submission: Submission<O>;
  private readonly callbacks: JobCallbacks<O> | undefined;
  private id: string | undefined;
  private answer: { readonly value: Answer; readonly request: WireRequest } | undefined;
  private outcome: Outcome<unknown> | undefined;
  private settled: Outcome<O> | undefined;
  private dueAt: number | undefined;
  private wasPolled: boolean;
  private lastStatus: StatusEvent | undefined;
  /** From an intent until the result of its POST is durable, and from the end until that is: such a run is not stopped. */
  isCritical = false;
  private interrupted: Subject<void> | undefined;
  private polls: Subscriber<PollStep> | undefined;
  private cancelReply: AsyncSubject<Outcome<O>> | undefined;
  private cancelIsSent = false;
  private listeners: readonly ((event: Watched) => void)[] = [];

  constructor(
    private readonly spec: JobSpec<O>,
    private readonly context: ClientContext,
  ) {
    const { untilAborted } = spec;
    this.id = spec.known?.jobId;
    this.wasPolled = spec.known !== undefined;
    this.submission = new Submission(spec, context, this);
    const { webhook } = spec;
    this.callbacks = webhook && new JobCallbacks(webhook, this, spec, context);
    const steps = flow(() => this.stages());
    this.steps = this.callbacks?.during(steps) ?? steps;
    this.run = new PurchaseRun<JobEvent<O>>(this, context.open);
    const followed = new Observable<JobEvent<O>>((subscriber) => this.run.join(subscriber));
    this.events =
      untilAborted === identity
        ? followed
        : defer(() => (this.settled ? followed : followed.pipe(untilAborted)));
  }

  /** Each step is empty where what it finds out is known. */
  private *stages(): Steps<JobEvent<O>> {
    this.dueAt ??= this.context.scheduler.now() + this.spec.options.deadlineMs;
    yield* this.submit(this.dueAt);
    yield* this.accept();
    yield this.poll(this.dueAt);
    yield* this.settle();
  }

  private *submit(dueAt: number): Steps<JobEvent<O>> {
    if (this.isOpen) yield* this.submission.steps(dueAt);
  }

  /** The service has answered the POST: the id, or the end. */
  private *accept(): Steps<JobEvent<O>> {
    const { answer } = this;
    this.answer = undefined;
    if (answer === undefined) return;
    const { value, request } = answer;
    if (value.body === 'value') return this.end(directAnswer(value.value));
    const { job } = value;
    this.id = job.id;
    if (isTerminal(job.status)) return this.end(outcomeOf(job, request));
    if (this.isCancelled || !this.isFollowed) this.abandon();
    yield awaitCheckpoint(this.spec.checkpoint, { type: 'accepted', jobId: job.id });
    yield { type: 'accepted', jobId: job.id };
    yield statusEvent(job);
    yield this.rest();
  }

  /** Of a job that has an id and has not ended. */
  private poll(dueAt: number): Step<JobEvent<O>> {
    const { id, spec } = this;
    if (id === undefined || this.outcome !== undefined || spec.queue === undefined) return EMPTY;
    const due = { at: dueAt, deadlineMs: spec.options.deadlineMs };
    const polls = pollToDeadline(this.pollTask(id, spec.queue.status(id)), due, this.context);
    const untilInterrupted = new Observable<PollStep>((subscriber) => {
      this.polls = subscriber;
      return polls.subscribe(subscriber);
    });
    return receive<PollStep, JobEvent<O>>(untilInterrupted, (step) => {
      if (step.type !== 'ended') return step;
      this.outcome ??= step.outcome;
      return undefined;
    });
  }

  /** The end: checked, durable, emitted. */
  private *settle(): Steps<JobEvent<O>> {
    const { outcome, spec } = this;
    if (outcome === undefined) return;
    this.isCritical = true;
    const check = spec.check(outcome);
    const checked = isObservable(check) ? yield* lastOf(check) : check;
    if (checked === undefined) return;
    yield awaitCheckpoint(spec.checkpoint, { type: 'settled', outcome: checked });
    yield { type: 'settled', outcome: checked };
  }

  /** How the job has ended. It is settled next, also where nobody follows it: its price would stay reserved for ever. */
  end(outcome: Outcome<unknown>): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    if (!this.isFollowed && !this.isCritical) this.run.start();
    else this.interrupt();
  }

  answered(value: Answer, request: WireRequest): void {
    this.answer = { value, request };
  }

  claim(jobId: string): ReturnType<Buyer['claim']> {
    const { spec, context, callbacks } = this;
    return callbacks === undefined
      ? context.jobIds.claim({ endpoint: spec.endpoint, jobId, key: spec.key })
      : callbacks.claim(jobId);
  }

  /** Polls may begin within this call: they are not what is interrupted. */
  wasNamed(): void {
    if (this.submission.awaitsCallback) this.interrupted?.next();
  }

  acceptNamed(request: WireRequest): void {
    const named = this.callbacks?.named;
    if (named === undefined || !this.isOpen) return;
    // How it has ended is for a poll to say.
    const job = isTerminal(named.status) ? { id: named.id, status: 'IN_PROGRESS' } : named;
    this.answered({ status: 200, body: 'job', job }, request);
    this.wasPolled = true;
  }

  endBy(outcome: Outcome<unknown>, jobId: string): void {
    if (this.outcome !== undefined) return;
    this.id ??= jobId;
    this.end(outcome);
  }

  show(reply: JobReply): void {
    this.polls?.next(statusEvent(reply));
  }

  get openAttempt(): number | undefined {
    return this.spec.known === undefined ? this.submission.openAttempt : 1;
  }

  begin(): void {
    this.isCritical = true;
  }

  /** To be yielded: a job that nobody follows stops here, and nothing behind it is begun. */
  rest(): Observable<never> {
    if (this.outcome !== undefined) return EMPTY;
    this.isCritical = false;
    this.run.rest();
    return EMPTY;
  }

  cancel(): Observable<Outcome<O>> {
    if (this.settled !== undefined) return of(this.settled);
    this.cancelReply ??= new AsyncSubject();
    if (!this.isCancelled && this.outcome === undefined) {
      this.isCancelled = true;
      if (this.id !== undefined) this.abandon();
      else if (this.submission.isUnsent) this.endUnsent(this.cancelReply);
      else if (this.submission.awaitsCallback) this.interrupt();
    }
    return this.cancelReply;
  }

  /** Nothing was sent, and nothing will be. */
  private endUnsent(reply: AsyncSubject<Outcome<O>>): void {
    this.outcome = this.submission.cancelled();
    if (this.isFollowed) return this.interrupt();
    reply.next(this.outcome);
    reply.complete();
  }

  /** Nobody is subscribed any more. A critical section goes on: the run stops behind it. */
  left(): void {
    if (this.outcome !== undefined) return;
    this.abandon();
    if (this.submission.awaitsCallback) this.interrupt();
  }

  /** Cancels at the service what is to be cancelled there: once, and as soon as the id is known. */
  private abandon(): void {
    const { id, spec, context } = this;
    const isWanted = !this.isCancelled && spec.options.onUnsubscribe === 'detach';
    if (isWanted || id === undefined || this.cancelIsSent) return;
    this.cancelIsSent = true;
    const cancelling = {};
    context.open?.enter(cancelling);
    cancelAtService(id, spec, context).subscribe({
      next: (outcome) => this.end(outcome),
      complete: () => {
        context.open?.leave(cancelling);
        if (this.outcome === undefined) this.cancelReply?.complete();
      },
    });
  }

  failed(): void {
    this.cancelReply?.complete();
    this.callbacks?.failed();
  }

  emitted(event: JobEvent<O>): void {
    if (event.type === 'status') this.lastStatus = event;
    else if (event.type === 'settled') this.settled = event.outcome;
    this.spec.report(event);
    this.notify(event);
    if (event.type !== 'settled') return;
    this.callbacks?.settled(event.outcome);
    this.cancelReply?.next(event.outcome);
    this.cancelReply?.complete();
  }

  refused(): void {
    this.notify({ type: 'refused' });
  }

  private notify(event: Watched): void {
    for (const listener of this.listeners) listener(event);
  }

  watch(listener: (event: Watched) => void): void {
    this.listeners = [...this.listeners, listener];
  }

  get isFollowed(): boolean {
    return this.run.isFollowed;
  }

  /** The end of the job is known otherwise. */
  private interrupt(): void {
    this.interrupted?.next();
    this.polls?.complete();
  }

  /** Emits when the end of the job is known otherwise. */
  get interruption(): Observable<void> {
    return (this.interrupted ??= new Subject());
  }

  /** Nothing was accepted, and nothing has ended. */
  get isOpen(): boolean {
    return this.id === undefined && this.answer === undefined && this.outcome === undefined;
  }

  get key(): string {
    return this.spec.key;
  }

  get jobId(): string | undefined {
    return this.spec.purpose === 'route-post' ? '' : this.id;
  }

  get cannotBeCancelled(): boolean {
    return this.spec.sync;
  }

  get address(): string | undefined {
    const { id, spec } = this;
    return id === undefined ? undefined : spec.queue?.status(id).url;
  }

  private pollTask(jobId: string, request: WireRequest): PollTask {
    const { spec, context, callbacks } = this;
    const atOnce = this.wasPolled || callbacks?.isAsked === true;
    this.wasPolled = true;
    const { poll } = spec.options;
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
      schedule: callbacks?.within(poll) ?? poll,
      backoff: spec.options.retry,
      atOnce,
      last: this.lastStatus,
      trace: spec.trace,
      onCall: () => (this.statusCalls += 1),
    };
  }
}
