import { AsyncSubject, EMPTY, ignoreElements, merge, take, takeUntil, type Observable } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import type { JobWebhook } from '../../policy/job-webhook.js';
import type { WireRequest } from '../../transport/transport.js';
import { lastOf, type Steps } from '../flow.js';
import type { ClientContext, Judged } from '../requests/exchange.js';
import type { JobTrace } from '../requests/request-report.js';
import { deadline } from '../timers/deadline.js';

/** What these steps of a submission need of the job that they work for. */
export interface CalledBuyer {
  readonly isOpen: boolean;
  readonly isCancelled: boolean;
  readonly isFollowed: boolean;
  readonly jobId: string | undefined;
  /** Emits when a callback has ended the job, and when it is to wait for one no longer. */
  readonly interruption: Observable<unknown>;
  claim(jobId: string): string | undefined | PromiseLike<string | undefined>;
  /** A callback that came before named the job: it is accepted with that id. */
  acceptNamed(request: WireRequest): void;
}

/** The request with the address of this POST, which is no part of what is bought. */
export function* addressed(
  request: WireRequest,
  { webhook, trace, attempt }: { webhook: JobWebhook; trace: JobTrace | undefined; attempt: number },
): Steps<never, WireRequest> {
  const made = webhook.address(attempt);
  const address = typeof made === 'string' ? made : yield* lastOf(made);
  if (address === undefined) return request;
  const { body = '' } = request;
  // Its last segment is what makes it a secret.
  const token = address.slice(address.lastIndexOf('/') + 1);
  if (trace !== undefined) trace.secrets = [...(trace.secrets ?? []), token];
  return { ...request, body: `${body.slice(0, -1)},"webhook":${JSON.stringify(address)}}` };
}

/** The answer to a POST; `undefined` where a callback has ended the job before. The request is not aborted then. */
export function* untilCalledBack(
  answer: Observable<Judged>,
  { buyer, context, webhook }: { buyer: CalledBuyer; context: ClientContext; webhook: JobWebhook },
): Steps<never, Judged | undefined> {
  const judged$ = new AsyncSubject<Judged>();
  const asking = {};
  context.open?.enter(asking);
  judged$.subscribe({
    next: ({ reading }) => {
      const named = reading !== undefined && 'job' in reading ? reading.job.id : undefined;
      if (named === undefined || buyer.isOpen || named === buyer.jobId) return;
      void Promise.resolve(buyer.claim(named)).catch(() => undefined);
      webhook.contradicted(named);
    },
    complete: () => context.open?.leave(asking),
  });
  answer.subscribe(judged$);
  const judged = yield* lastOf(judged$.pipe(takeUntil(buyer.interruption)));
  // A job that is open still would send its POST again.
  return judged === undefined && buyer.isOpen ? yield* lastOf(judged$) : judged;
}

/** After a POST without an answer: waits until a callback names the job, or none is to be waited for. */
export function* awaitCallback<O>(
  request: WireRequest,
  {
    webhook,
    buyer,
    context,
    at,
  }: { webhook: JobWebhook; buyer: CalledBuyer; context: ClientContext; at: number },
): Steps<JobEvent<O>> {
  buyer.acceptNamed(request);
  if (buyer.isOpen)
    yield { type: 'waiting', why: 'callback', forMs: Math.max(at - context.scheduler.now(), 0) };
  if (buyer.isOpen && buyer.isFollowed && !buyer.isCancelled)
    yield merge(webhook.giveUp$, buyer.interruption).pipe(
      take(1),
      ignoreElements(),
      deadline<never>({ at, otherwise: () => EMPTY, timers: context.timers }),
    );
  buyer.acceptNamed(request);
}
