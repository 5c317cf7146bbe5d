import { AsyncSubject, concatMap, defer, from, map, merge, of, Subject, using, type Observable } from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import type { Callback, CallbackResult, JobWebhook } from '../../policy/job-webhook.js';
import type { PollSchedule } from '../../policy/polling/poll-schedule.js';
import { readReply } from '../../transport/read-reply.js';
import type { ClientContext } from '../requests/exchange.js';
import { outcomeOf } from '../requests/outcome-of.js';
import type { JobSpec } from './job-spec.js';

/** The job that callbacks are about. */
export interface CalledJob {
  /** The id by the answer of the service, or by the callback that ended it. */
  readonly jobId: string | undefined;
  /** The POST that the service may have accepted, from 1; `undefined`: none. */
  readonly openAttempt: number | undefined;
  /** It has completed so, under this id. */
  endBy(outcome: Outcome<unknown>, jobId: string): void;
  /** A callback has named it: a wait for that is over. */
  wasNamed(): void;
  /** What was said of it while it goes on is emitted. */
  show(reply: JobReply): void;
}

/**
 * What callbacks do to a job. A completed one ends it. Any other end is asked for at once, since no callback proves that nothing was
 * paid. A status that is no end only informs.
 */
export class JobCallbacks<O> {
  /** What a callback said before the service had answered the POST. */
  named: JobReply | undefined;
  /** A poll was asked for before there were polls. */
  isAsked = false;
  private readonly settlement = new AsyncSubject<CallbackResult>();
  private readonly asked = new Subject<void>();
  /** Whose the ids are that the answer and callbacks have named. */
  private readonly owners = new Map<string, string | undefined | PromiseLike<string | undefined>>();

  constructor(
    private readonly webhook: JobWebhook,
    private readonly job: CalledJob,
    private readonly spec: JobSpec<O>,
    private readonly context: ClientContext,
  ) {}

  /** The steps of the job, with callbacks while they go on. */
  during(steps: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
    return using(
      () => this.webhook.listen((callback) => this.take(callback)),
      () => steps,
    );
  }

  /** The schedule, with the polls that callbacks ask for. */
  within(schedule: PollSchedule): PollSchedule {
    return {
      pollTimes: (job) => merge(schedule.pollTimes(job), this.asked),
      observe: (...reply) => schedule.observe(...reply),
    };
  }

  /** The key of the job that has this id; `undefined`: this one has it from now on, whether answer or callback names it first. */
  claim(jobId: string): string | undefined | PromiseLike<string | undefined> {
    const { owners, spec, context } = this;
    if (!owners.has(jobId))
      owners.set(jobId, context.jobIds.claim({ endpoint: spec.endpoint, jobId, key: spec.key }));
    return owners.get(jobId);
  }

  /** The end of the job is durable. */
  settled(outcome: Outcome<unknown>): void {
    this.webhook.ended(outcome);
    this.settlement.next('settled');
    this.settlement.complete();
  }

  /** It will not become durable. */
  failed(): void {
    this.settlement.complete();
  }

  /** Emits the result once what follows from the callback is durable. */
  private take({ attempt, body }: Callback): Observable<CallbackResult> {
    return defer(() => {
      if (attempt !== this.job.openAttempt) return of<CallbackResult>('foreign');
      const reply = body === undefined ? undefined : this.read(body);
      if (reply === undefined) {
        this.ask();
        return of<CallbackResult>('unreadable');
      }
      return this.isOurs(reply.id).pipe(
        concatMap((isOurs) =>
          isOurs && attempt === this.job.openAttempt ? this.apply(reply) : this.refuse(reply.id),
        ),
      );
    });
  }

  /** By the schema of a reply to a poll, which may leave the id out where a callback may not. */
  private read(body: string): JobReply | undefined {
    const { spec, context } = this;
    if (spec.queue === undefined) return undefined;
    const request = spec.queue.status('-');
    const secrets = [...context.secrets, ...(spec.trace?.secrets ?? [])];
    const asked = { purpose: 'poll', request, secrets, nowMs: context.scheduler.now() } as const;
    const reading = readReply({ status: 200, headers: {}, body }, asked);
    if (!('job' in reading) || reading.job.id === undefined) return undefined;
    return { ...reading.job, id: reading.job.id };
  }

  private isOurs(jobId: string): Observable<boolean> {
    const known = this.job.jobId;
    if (known !== undefined) return of(known === jobId);
    const owner = this.claim(jobId);
    if (typeof owner !== 'object') return of(owner === undefined);
    return from(owner).pipe(map((found) => found === undefined));
  }

  private refuse(jobId: string): Observable<CallbackResult> {
    if (this.job.jobId !== undefined) this.webhook.contradicted(jobId);
    return of('foreign');
  }

  private apply(reply: JobReply): Observable<CallbackResult> {
    const { job, spec, context } = this;
    // Another callback, or the answer, may have named another id while this one was claimed.
    if ((job.jobId ?? this.named?.id ?? reply.id) !== reply.id) return this.refuse(reply.id);
    const isCompleted = reply.status === 'COMPLETED';
    const isNamed = job.jobId !== undefined;
    if (!isNamed) this.named = reply;
    if (!isNamed && !isCompleted) job.wasNamed();
    if (!isTerminal(reply.status)) {
      if (isNamed) job.show(reply);
      return of('noted');
    }
    const request = spec.queue?.status(reply.id);
    if (request !== undefined && isCompleted) {
      spec.options.poll.observe(spec.key, reply, context.scheduler.now());
      job.endBy(outcomeOf(reply, request), reply.id);
    } else this.ask();
    return this.settlement;
  }

  private ask(): void {
    this.isAsked = true;
    this.asked.next();
  }
}
