import { concatMap, map, repeat, timer, type Observable } from 'rxjs';
import { checkNumber, checkObject } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { isJobId } from '../contract/request-parts.js';
import {
  type Health,
  healthSchema,
  type JobReply,
  type Purged,
  purgeReplySchema,
} from '../contract/service-replies.js';
import { describeIssues, type StandardSchema } from '../contract/standard-schema.js';
import { ask } from '../operators/requests/ask-until-answered.js';
import type { Asking, ClientContext } from '../operators/requests/exchange.js';
import { whatWasAsked } from '../operators/requests/outcome-of.js';
import { clampTimer } from '../policy/client-clock.js';
import type { ResolvedQueueOptions } from '../policy/queue-options.js';
import type { Reading } from '../transport/read-reply.js';
import { MalformedReplyError } from '../transport/reply-error.js';
import type { WireRequest } from '../transport/transport.js';
import { checkWait } from './call-options.js';
import type { StatusOptions, WatchOptions } from './queue-endpoint.js';
import { validate } from './schema-checks.js';
import type { QueueRequests } from './wire-requests.js';

/** The calls of a queue endpoint that buy nothing. Each repeats its request until it has an answer. */
export class QueueQuestions {
  // Private, because requests contain the key: a logged endpoint shows only its id.
  readonly #requests: QueueRequests;
  readonly #retry: ResolvedQueueOptions['retry'];
  readonly #context: ClientContext;

  constructor(
    readonly id: string,
    requests: QueueRequests,
    retry: ResolvedQueueOptions['retry'],
    context: ClientContext,
  ) {
    this.#requests = requests;
    this.#retry = retry;
    this.#context = context;
  }

  status(jobId: string, options: StatusOptions = {}): Observable<JobReply> {
    checkObject(options);
    const { waitMs } = options;
    checkWait(waitMs);
    const request = this.#requests.status(checkJobId(jobId), waitMs);
    return this.#askJob({ purpose: 'poll', request, jobId });
  }

  cancel(jobId: string): Observable<JobReply> {
    return this.#askJob({ purpose: 'cancel', request: this.#requests.cancel(checkJobId(jobId)), jobId });
  }

  health(): Observable<Health> {
    return this.#askValue('health', this.#requests.health(), healthSchema);
  }

  watchHealth(options: WatchOptions = {}): Observable<Health> {
    checkObject(options);
    const { everyMs = 5_000 } = options;
    checkNumber('everyMs', everyMs, 'number above 0');
    return this.health().pipe(repeat({ delay: () => timer(clampTimer(everyMs), this.#context.scheduler) }));
  }

  purgeQueue(): Observable<Purged> {
    return this.#askValue('purge', this.#requests.purgeQueue(), purgeReplySchema);
  }

  #askJob(asking: Omit<Asking, 'key'> & { jobId: string }): Observable<JobReply> {
    return this.#ask(asking).pipe(
      concatMap((reading) => ('job' in reading ? [{ ...reading.job, id: asking.jobId }] : [])),
    );
  }

  #askValue<T>(
    purpose: 'health' | 'purge',
    request: WireRequest,
    schema: StandardSchema<unknown, T>,
  ): Observable<T> {
    return this.#ask({ purpose, request }).pipe(
      map((reading) => ('value' in reading ? reading.value : {})),
      concatMap((value) => validate(schema, value)),
      map((result) => {
        if (result.issues === undefined) return result.value;
        const problem = `${whatWasAsked(request)}: the answer is not of its schema: ${describeIssues(result.issues)}`;
        throw new MalformedReplyError(problem, { httpStatus: 200 });
      }),
    );
  }

  #ask(asking: Omit<Asking, 'key'>): Observable<Reading> {
    return ask({ ...asking, key: this.id }, this.#retry, this.#context);
  }
}

export function checkJobId(jobId: string): string {
  if (isJobId(jobId)) return jobId;
  throw new InvalidOptionError('jobId', jobId === '' ? 'is empty' : 'is not an id of a job');
}
