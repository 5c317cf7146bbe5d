import {
  AsyncSubject,
  EMPTY,
  identity,
  Observable,
  of,
  takeUntil,
  type Observer,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { isTerminal, type JobEvent, type Outcome } from '../../contract/outcome.js';
import type { AsyncScope } from '../../policy/guard-hooks.js';
import { flow, receive, type Step, type Steps, type Taker } from '../flow.js';
import { asJob, type Job, type JobFacts, type Watched } from '../job.js';
import type { ClientContext } from '../requests/exchange.js';
import { directAnswer, outcomeOf, statusEvent } from '../requests/outcome-of.js';
import { pollUntilTerminal, type PollStep } from '../requests/poll-until-terminal.js';
import { cancelAtService, JobPolls } from './job-polls.js';
import { JobCallbacks } from './job-callbacks.js';
import { awaitCheckpoint, settled, type JobSpec } from './job-spec.js';
import { JobState } from './job-state.js';
import { PurchaseRun, type Runner } from './purchase-run.js';
import { Submission } from './submission.js';

/** One purchase: submit → accept → poll → settle. Nothing happens before the first subscription. */
export function createJob<O>(spec: JobSpec<O>, context: ClientContext): Job<O> {
  const purchase = new Purchase(spec, context);
  // Bound, not found by `this`: a user interface may keep the job behind a proxy. A closure for each job would take more.
  return asJob(purchase.join.bind(purchase), purchase);
}

class Purchase<O>
  extends JobState<O>
  implements JobFacts<O>, Runner<JobEvent<O>>, Taker<PollStep, JobEvent<O>>
{
  private readonly run: PurchaseRun<JobEvent<O>>;
  private readonly callbacks: JobCallbacks<O> | undefined;
  /** Set until the job is accepted. */
  private submission: Submission<O> | undefined;
  /** That of the call that created the job. */
  private readonly scope: AsyncScope | undefined;
  private settled: Outcome<O> | undefined;
  private dueAt: number | undefined;
  private cancelReply: AsyncSubject<Outcome<O>> | undefined;
  private cancelIsSent = false;
  /** A checkpoint has failed, so the run is over and emits no end. */
  private hasFailed = false;
  private listeners: readonly ((event: Watched) => void)[] = none;

  constructor(spec: JobSpec<O>, context: ClientContext) {
    super(spec, context);
    const { webhook } = spec;
    this.callbacks = webhook && new JobCallbacks(webhook, this);
    if (this.isOpen) this.submission = new Submission(this, this.callbacks);
    this.run = new PurchaseRun<JobEvent<O>>(this, context.open);
    this.scope = context.createScope?.();
  }

  join(subscriber: Subscriber<JobEvent<O>>): void {
    const { untilAborted } = this.spec;
    if (untilAborted === identity || this.settled !== undefined) return this.run.join(subscriber);
    const run = new Observable<JobEvent<O>>((joining) => this.run.join(joining));
    run.pipe(untilAborted).subscribe(subscriber);
  }

  play(run: Observer<JobEvent<O>> & Subscription): void {
    const steps = flow(() => this.life(), this.scope);
    (this.callbacks?.during(steps) ?? steps).subscribe(run);
  }

  /**
   * The steps of the job. A step does nothing if its result is already known, so that a job that was left continues
   * where it stopped.
   */
  private *life(): Steps<JobEvent<O>> {
    const dueAt = (this.dueAt ??= this.context.scheduler.now() + this.spec.options.deadlineMs);
    if (this.isOpen && this.submission !== undefined) yield* this.submission.submit(dueAt);
    yield* this.accept();
    yield this.poll(dueAt);
    yield this.settle();
  }

  /** Handles the service's answer to the POST: the id, or the end. */
  private *accept(): Steps<JobEvent<O>> {
    const { answer } = this;
    this.answer = undefined;
    if (answer === undefined) return;
    const { value, request } = answer;
    if (value.body === 'value') return this.end(directAnswer(value.value));
    const { job } = value;
    this.id = job.id;
    this.submission = undefined;
    this.letGo();
    if (isTerminal(job.status)) this.end(outcomeOf(job, request));
    this.callbacks?.answered(job.id);
    if (this.outcome !== undefined) return;
    if (this.isCancelled || !this.isFollowed) this.abandon();
    yield awaitCheckpoint(this.spec.checkpoint, { type: 'accepted', jobId: job.id });
    this.callbacks?.accepted();
    yield { type: 'accepted', jobId: job.id };
    yield statusEvent(job);
    yield this.rest();
  }

  /** Polls a job that has an id and has not ended. */
  private poll(at: number): Step<JobEvent<O>> {
    const { id, spec, context, callbacks } = this;
    if (id === undefined || this.outcome !== undefined || spec.queue === undefined) return EMPTY;
    const { deadlineMs, poll } = spec.options;
    const polls = pollUntilTerminal(new JobPolls(this, spec.queue, id, poll), { at, deadlineMs }, context);
    const replies = callbacks?.among(polls).pipe(takeUntil(this.interrupted)) ?? polls;
    return receive<PollStep, JobEvent<O>>(replies, this);
  }

  /** Takes the end of its polls, and emits their other steps. */
  take(step: PollStep): JobEvent<O> | undefined {
    if (step.type !== 'ended') return step;
    this.outcome ??= step.outcome;
    return undefined;
  }

  /** Checks the end, waits until it is durable, and emits it. */
  private settle(): Observable<JobEvent<O>> {
    if (this.outcome === undefined) return EMPTY;
    this.isCritical = true;
    return settled(this.outcome, this.spec);
  }

  rest(): Observable<never> {
    // A job that was cancelled before its POST was refused ends now, even without a subscriber.
    if (this.outcome !== undefined || (this.isCancelled && this.isUnsent)) return EMPTY;
    this.isCritical = false;
    this.run.rest();
    return EMPTY;
  }

  cancel(): Observable<Outcome<O>> {
    if (this.settled !== undefined) return of(this.settled);
    const reply = (this.cancelReply ??= new AsyncSubject());
    if (!this.isCancelled && this.outcome === undefined) {
      this.isCancelled = true;
      if (this.id !== undefined) this.abandon();
      else if (this.isUnsent) this.endUnsent(reply);
      else if (this.awaitsCallback) this.interrupt();
    }
    if (this.hasFailed && !this.cancelIsSent) this.endCancel();
    return reply;
  }

  /** Ends a job whose POST was not sent and will not be. */
  private endUnsent(reply: AsyncSubject<Outcome<O>>): void {
    const outcome = this.submission?.cancelled();
    if (outcome === undefined) return;
    this.outcome = outcome;
    if (this.isFollowed) return this.interrupt();
    reply.next(outcome);
    reply.complete();
  }

  /** Called when the last subscriber has left. A critical section continues; the run stops after it. */
  left(): void {
    if (this.outcome !== undefined) return;
    this.abandon();
    if (this.awaitsCallback) this.interrupt();
  }

  /** Cancels the job at the service: once, and as soon as the id is known. */
  private abandon(): void {
    const { id, spec, context } = this;
    const isWanted = !this.isCancelled && spec.options.onUnsubscribe === 'detach';
    if (isWanted || id === undefined || this.cancelIsSent) return;
    this.cancelIsSent = true;
    context.open.during(cancelAtService(id, spec, context)).subscribe({
      next: (outcome) => {
        this.cancelReply?.next(outcome as Outcome<O>);
        this.end(outcome);
      },
      complete: () => {
        if (this.outcome !== undefined && !this.hasFailed) return;
        // The job may still run, so another call, or another subscriber that leaves, asks the service again.
        this.isCancelled = this.cancelIsSent = false;
        this.endCancel();
      },
    });
  }

  private endCancel(): void {
    this.cancelReply?.complete();
    this.cancelReply = undefined;
  }

  emitted(event: JobEvent<O>): void {
    if (event.type === 'status') this.lastStatus = event;
    else if (event.type === 'settled') this.settled = event.outcome;
    this.spec.report(event, this.spec.trace);
    this.notify(event);
    if (event.type !== 'settled') return;
    this.callbacks?.settled(event.outcome);
    this.cancelReply?.next(event.outcome);
    this.endCancel();
  }

  failed(): void {
    this.hasFailed ||= this.isCritical;
    this.endCancel();
    this.callbacks?.failed();
  }

  refused(): void {
    this.run.forgetLast();
    this.notify({ type: 'refused' });
  }

  watch(listener: (event: Watched) => void): void {
    this.listeners = this.listeners.concat(listener);
  }

  private notify(event: Watched): void {
    for (const listener of this.listeners) listener(event);
  }

  protected start(): void {
    this.run.start();
  }

  get isSettled(): boolean {
    return this.settled !== undefined;
  }

  get isFollowed(): boolean {
    return this.run.isFollowed;
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
}

const none: readonly never[] = [];
