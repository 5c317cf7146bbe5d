import {
  AsyncSubject,
  BehaviorSubject,
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
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import type { Callback, CallbackResult, JobWebhook } from '../../policy/job-webhook.js';
import type { PollSchedule } from '../../policy/polling/poll-schedule.js';
import { readReply } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import { deadline } from '../deadline.js';
import { outcomeOf, statusEvent, type StatusEvent } from '../requests/outcome-of.js';
import type { PollStep } from '../requests/poll-until-terminal.js';
import type { JobState } from './job-state.js';
import type { CalledBack } from './submission.js';

/**
 * What callbacks do to a job. A completed one ends it. Any other end is asked for at once, since no callback proves that nothing was
 * paid. A status that is not an end only informs.
 *
 * While a POST is on the wire, callbacks about it are held: its answer says which job is this one's, and a callback that names another
 * job changes nothing. The time limits of the POST bound that. Where it ends without an answer that names a job, the ids in callbacks are
 * all that is known: the first job that no other row has is taken for this one's, and nothing is sent again.
 */
export class JobCallbacks<O> implements CalledBack<O> {
  /** Jobs that callbacks have named before this one had an id, in the order in which they came. */
  readonly #named = new Map<string, JobReply>();
  readonly #settlement = new AsyncSubject<CallbackResult>();
  /** Emits once it is durable that the service has accepted the job. */
  readonly #acceptance = new AsyncSubject<CallbackResult>();
  /** Ids of jobs that are not this one. */
  readonly #dropped = new Subject<string>();
  readonly #asked = new Subject<void>();
  readonly #shown = new Subject<StatusEvent>();
  /** How many callbacks wait to learn whose job they name. */
  readonly #claims = new BehaviorSubject(0);

  constructor(
    private readonly webhook: JobWebhook,
    private readonly job: JobState<O>,
  ) {}

  /** The steps of the job, with callbacks while they go on. */
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
        // Its last segment is what makes it a secret.
        const token = address.slice(address.lastIndexOf('/') + 1);
        if (trace !== undefined) trace.secrets = [...(trace.secrets ?? []), token];
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
      deadline<never>({ at, otherwise: () => EMPTY, scheduler }),
    );
    const wait = defer(() => {
      job.awaitsCallback = true;
      const forMs = Math.max(at - scheduler.now(), 0);
      return concat(
        of<JobEvent<O>>({ type: 'waiting', why: 'callback', forMs }),
        defer(() => (job.isOpen && job.isFollowed && !job.isCancelled ? over : EMPTY)),
        // A callback that is here has not been given up.
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

  /** The polls of the job, and what callbacks say of it meanwhile. */
  among(polls: Observable<PollStep>): Observable<PollStep> {
    return merge(polls, this.#shown).pipe(takeWhile((step) => step.type !== 'ended', true));
  }

  /** The schedule, with the polls that callbacks ask for. */
  within(schedule: PollSchedule): PollSchedule {
    return {
      pollTimes: (job) => merge(schedule.pollTimes(job), this.#asked),
      observe: (...reply) => schedule.observe(...reply),
    };
  }

  /** The id of the job is durable. */
  accepted(): void {
    this.#acceptance.next('noted');
    this.#acceptance.complete();
  }

  /** The end of the job is durable. */
  settled(outcome: Outcome<unknown>): void {
    this.webhook.ended(outcome);
    this.#settlement.next('settled');
    this.#settlement.complete();
  }

  /** It will not become durable. */
  failed(): void {
    this.#settlement.complete();
    this.#acceptance.complete();
  }

  /** Takes the first job that callbacks have named and no other row has. Jobs that are named meanwhile have their turn as well. */
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

  /** Claims nothing more once the job has its id: another row may be asking for that one. */
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

  /** A completed job ends here, how another has ended is for a poll to say. */
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

  /** Emits the result once what follows from the callback is durable. */
  #take({ attempt, body }: Callback): Observable<CallbackResult> {
    return defer(() => {
      const { job } = this;
      const reply = body === undefined ? undefined : this.#read(body);
      // A POST that was refused, and made a job all the same: the next one need not leave.
      if (attempt !== job.openAttempt)
        return reply !== undefined && job.isAboutToSend
          ? this.#hold(reply)
          : this.#refuse(reply?.id ?? job.id);
      if (reply === undefined) {
        this.#ask();
        return of<CallbackResult>('unreadable');
      }
      if (job.id !== undefined) return job.id === reply.id ? this.#apply(reply) : this.#refuse(reply.id);
      // Its end is being written, and says nothing of that job: whoever calls tries again behind it.
      if (job.outcome !== undefined) return EMPTY;
      if (!job.awaitsCallback) return this.#hold(reply);
      return this.#claim(reply.id).pipe(
        concatMap((owner) =>
          owner === undefined && attempt === job.openAttempt ? this.#hold(reply) : this.#refuse(reply.id),
        ),
      );
    });
  }

  /** The job does not end as unknown meanwhile. */
  #claim(jobId: string): Observable<string | undefined> {
    const claims = this.#claims;
    return defer(() => {
      claims.next(claims.value + 1);
      return this.job.claim(jobId);
    }).pipe(finalize(() => claims.next(claims.value - 1)));
  }

  /** By the schema of a reply to a poll, which may leave the id out where a callback may not. */
  #read(body: string): JobReply | undefined {
    const { spec, context } = this.job;
    if (spec.queue === undefined) return undefined;
    const request = spec.queue.status('-');
    const secrets = [...context.secrets, ...(spec.trace?.secrets ?? [])];
    const asked = { purpose: 'poll', request, secrets, nowMs: context.scheduler.now() } as const;
    const reading = readReply({ status: 200, headers: {}, body }, asked);
    if (!('job' in reading) || reading.job.id === undefined) return undefined;
    return { ...reading.job, id: reading.job.id };
  }

  #refuse(jobId: string | undefined): Observable<CallbackResult> {
    if (jobId !== undefined && jobId !== this.job.id) this.webhook.contradicted(jobId);
    return of('foreign');
  }

  /** Until it is known whose job that is. */
  #hold(reply: JobReply): Observable<CallbackResult> {
    const { job } = this;
    // It may have got its id while this one was claimed.
    if (job.id !== undefined) return job.id === reply.id ? this.#apply(reply) : this.#refuse(reply.id);
    if (!this.#named.has(reply.id) || isTerminal(reply.status)) this.#named.set(reply.id, reply);
    if (job.awaitsCallback) job.interrupt();
    const dropped = this.#dropped.pipe(
      filter((jobId) => jobId === reply.id),
      map((): CallbackResult => 'foreign'),
    );
    // A caller that is answered does not call again: until then nothing but this process knows of the job.
    const kept: Observable<CallbackResult> = isTerminal(reply.status) ? EMPTY : this.#acceptance;
    return merge(kept, this.#settlement, dropped).pipe(take(1));
  }

  #drop(jobId: string): void {
    this.webhook.contradicted(jobId);
    this.#dropped.next(jobId);
  }

  /** Of this job. */
  #apply(reply: JobReply): Observable<CallbackResult> {
    const { spec, context } = this.job;
    if (!isTerminal(reply.status)) {
      this.#shown.next(statusEvent(reply));
      return of('noted');
    }
    const request = spec.queue?.status(reply.id);
    if (request !== undefined && reply.status === 'COMPLETED') {
      spec.options.poll.observe(spec.key, reply, context.scheduler.now());
      this.job.end(outcomeOf(reply, request));
    } else this.#ask();
    return this.#settlement;
  }

  #ask(): void {
    this.job.isPolledAtOnce = true;
    this.#asked.next();
  }
}
