import {
  AsyncSubject,
  BehaviorSubject,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  of,
  Subject,
  take,
  takeWhile,
  tap,
  using,
  type Observable,
} from 'rxjs';
import { isTerminal, type JobEvent, type Outcome } from '../../contract/outcome.js';
import type { JobReply } from '../../contract/service-replies.js';
import { callHook, reportUnhandled } from '../../policy/guard-hooks.js';
import type { Callback, CallbackResult, JobWebhook } from '../../policy/job-webhook.js';
import { readReply } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import { deadline } from '../deadline.js';
import { outcomeOf, statusEvent, type StatusEvent } from '../requests/outcome-of.js';
import type { PollStep } from '../requests/poll-until-terminal.js';
import type { JobState } from './job-state.js';
import type { CalledBack } from './submission.js';

/**
 * Applies callbacks to a job. The callback of a completed job ends it. Any other end is polled at once, because no
 * callback proves that nothing was paid. A status that is not an end is only reported.
 */
export class JobCallbacks<O> implements CalledBack<O> {
  /** Jobs that callbacks named before this one had an id, in their order of arrival. */
  readonly #named = new Map<string, JobReply>();
  readonly #settlement = new AsyncSubject<CallbackResult>();
  /** Emits once the acceptance of the job is durable. */
  readonly #acceptance = new AsyncSubject<CallbackResult>();
  /** Ids of jobs that are not this one. */
  readonly #dropped = new Subject<string>();
  readonly #shown = new Subject<StatusEvent>();
  /** How many callbacks wait until it is known whose job they name. */
  readonly #claims = new BehaviorSubject(0);

  constructor(
    private readonly webhook: JobWebhook,
    private readonly job: JobState<O>,
  ) {}

  /** The steps of the job, with callbacks received meanwhile. */
  during(steps: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
    return using(
      () => this.webhook.listen((callback) => this.#take(callback)),
      () => steps,
    );
  }

  addressed(request: WireRequest): Observable<WireRequest> {
    const { trace } = this.job.spec;
    const made = this.webhook.address(this.job.attempts);
    return (typeof made === 'string' ? of(made) : from(made)).pipe(
      map((address) => {
        // The last segment of an address is secret.
        const token = address.slice(address.lastIndexOf('/') + 1);
        trace.secrets = [...(trace.secrets ?? []), token];
        const { body = '' } = request;
        return { ...request, body: `${body.slice(0, -1)},"webhook":${JSON.stringify(address)}}` };
      }),
    );
  }

  get hasNamed(): boolean {
    return this.#named.size > 0;
  }

  answered(jobId: string): void {
    for (const named of this.#takeNamed())
      if (named.id === jobId) this.#apply(named);
      else this.#drop(named.id);
  }

  refused(): void {
    for (const { id } of this.#takeNamed()) this.#drop(id);
  }

  awaited(request: WireRequest, at: number): Observable<JobEvent<O>> {
    const { job, webhook } = this;
    const { scheduler } = job.context;
    const over = merge(webhook.giveUp$, job.interrupted).pipe(
      take(1),
      ignoreElements(),
      catchError((error: unknown) => {
        reportUnhandled(error);
        return EMPTY;
      }),
      deadline<never>({ at, otherwise: () => EMPTY, scheduler }),
    );
    const wait = defer(() => {
      job.awaitsCallback = true;
      const forMs = Math.max(at - scheduler.now(), 0);
      return concat(
        of<JobEvent<O>>({ type: 'waiting', why: 'callback', forMs }),
        defer(() => (job.isOpen && job.isFollowed && !job.isCancelled ? over : EMPTY)),
        // While a callback is being processed, the wait is not given up.
        this.#claims.pipe(
          takeWhile((claims) => claims > 0),
          ignoreElements(),
        ),
        defer(() => {
          job.awaitsCallback = false;
          return this.#accepted(request);
        }),
      );
    });
    return concat(
      defer(() => this.#accepted(request)),
      defer(() => (job.isOpen ? wait : EMPTY)),
    );
  }

  /** The polls of the job, and the reports of callbacks meanwhile. */
  among(polls: Observable<PollStep>): Observable<PollStep> {
    return merge(polls, this.#shown).pipe(takeWhile((step) => step.type !== 'ended', true));
  }

  /** Call it once the id of the job is durable. */
  accepted(): void {
    this.#acceptance.next('noted');
    this.#acceptance.complete();
  }

  /** Call it once the end of the job is durable. */
  settled(outcome: Outcome<unknown>): void {
    callHook(() => this.webhook.ended(outcome));
    this.#settlement.next('settled');
    this.#settlement.complete();
  }

  /** Call it if the end will not become durable. */
  failed(): void {
    this.#settlement.complete();
    this.#acceptance.complete();
  }

  /** Accepts the first job that callbacks have named and no other row has, including jobs that are named meanwhile. */
  #accepted(request: WireRequest): Observable<never> {
    return defer(() =>
      this.job.isOpen && this.hasNamed
        ? concat(
            from(this.#takeNamed()).pipe(concatMap((named) => this.#claimed(named, request))),
            this.#accepted(request),
          )
        : EMPTY,
    );
  }

  /** Claims nothing more once the job has its id, because another row may be claiming that one. */
  #claimed(named: JobReply, request: WireRequest): Observable<never> {
    const { job } = this;
    if (!job.isOpen) {
      this.#drop(named.id);
      return EMPTY;
    }
    return job.claim(named.id).pipe(
      tap((owner) => {
        if (owner === undefined && job.isOpen) this.#accept(named, request);
        else this.#drop(named.id);
      }),
      ignoreElements(),
    );
  }

  /** A completed job ends here. For any other end a poll decides. */
  #accept(named: JobReply, request: WireRequest): void {
    const { job } = this;
    if (named.status === 'COMPLETED') {
      job.id = named.id;
      this.#apply(named);
      this.answered(named.id);
      return;
    }
    const reply = isTerminal(named.status) ? { id: named.id, status: 'IN_PROGRESS' } : named;
    job.answer = { value: { status: 200, body: 'job', job: reply }, request };
    job.isPolledAtOnce = true;
  }

  #takeNamed(): readonly JobReply[] {
    const named = [...this.#named.values()];
    this.#named.clear();
    return named;
  }

  /** Emits the result once the effect of the callback is durable. */
  #take({ attempt, body }: Callback): Observable<CallbackResult> {
    return defer(() => {
      const { job } = this;
      const reply = body === undefined ? undefined : this.#read(body);
      // The POST was refused but has created a job after all: the next POST need not be sent.
      if (attempt !== job.openAttempt)
        return reply !== undefined && job.isAboutToSend
          ? this.#hold(reply)
          : this.#refuse(reply?.id ?? job.id);
      if (reply === undefined) {
        this.#ask();
        return of<CallbackResult>('unreadable');
      }
      if (job.id !== undefined) return job.id === reply.id ? this.#apply(reply) : this.#refuse(reply.id);
      // The end is being written without that job, so the service is asked to call again later.
      if (job.outcome !== undefined) return EMPTY;
      if (!job.awaitsCallback) return this.#hold(reply);
      return this.#claim(reply.id).pipe(
        concatMap((owner) =>
          owner === undefined && attempt === job.openAttempt ? this.#hold(reply) : this.#refuse(reply.id),
        ),
      );
    });
  }

  /** Claims a job. Meanwhile the job does not end as unknown. */
  #claim(jobId: string): Observable<string | undefined> {
    const claims = this.#claims;
    return defer(() => {
      claims.next(claims.value + 1);
      return this.job.claim(jobId);
    }).pipe(finalize(() => claims.next(claims.value - 1)));
  }

  /** Reads the body like a poll's reply. Only a callback must have an id. */
  #read(body: string): JobReply | undefined {
    const { spec, context } = this.job;
    if (spec.queue === undefined) return undefined;
    const request = spec.queue.status('-');
    const secrets = [...context.secrets, ...(spec.trace.secrets ?? [])];
    const { scheduler, hasExactNumbers } = context;
    const asked = { purpose: 'poll', request, secrets, nowMs: scheduler.now(), hasExactNumbers } as const;
    const reading = readReply({ status: 200, headers: {}, body }, asked);
    if (!('job' in reading) || reading.job.id === undefined) return undefined;
    return { ...reading.job, id: reading.job.id };
  }

  #refuse(jobId: string | undefined): Observable<CallbackResult> {
    if (jobId !== undefined && jobId !== this.job.id) this.#contradicted(jobId);
    return of('foreign');
  }

  /** Holds the callback until it is known whose job it names. */
  #hold(reply: JobReply): Observable<CallbackResult> {
    const { job } = this;
    // The job may have got its id during the claim.
    if (job.id !== undefined) return job.id === reply.id ? this.#apply(reply) : this.#refuse(reply.id);
    if (!this.#named.has(reply.id) || isTerminal(reply.status)) this.#named.set(reply.id, reply);
    if (job.awaitsCallback) job.interrupt();
    const dropped = this.#dropped.pipe(
      filter((jobId) => jobId === reply.id),
      map((): CallbackResult => 'foreign'),
    );
    // The service does not repeat a callback that was answered, and until then only this process knows of the job.
    const kept: Observable<CallbackResult> = isTerminal(reply.status) ? EMPTY : this.#acceptance;
    return merge(kept, this.#settlement, dropped).pipe(take(1));
  }

  #contradicted(jobId: string): void {
    callHook(() => this.webhook.contradicted(jobId));
  }

  #drop(jobId: string): void {
    this.#contradicted(jobId);
    this.#dropped.next(jobId);
  }

  /** Applies a callback about this job. */
  #apply(reply: JobReply): Observable<CallbackResult> {
    const { spec, context } = this.job;
    if (!isTerminal(reply.status)) {
      this.#shown.next(statusEvent(reply));
      return of('noted');
    }
    const request = spec.queue?.status(reply.id);
    if (request !== undefined && reply.status === 'COMPLETED') {
      callHook(() => spec.options.poll.observe(spec.key, reply, context.scheduler.now()));
      this.job.end(outcomeOf(reply, request));
    } else this.#ask();
    return this.#settlement;
  }

  #ask(): void {
    this.job.isPolledAtOnce = true;
    this.job.polls?.poll();
  }
}
