import { concatMap, ignoreElements, map, of, throwError, timer, type Observable } from 'rxjs';
import type { Failed, WaitReason } from '../../contract/outcome.js';
import type { JobReply } from '../../contract/service-replies.js';
import { isGone } from '../../policy/may-send-again.js';
import type { WireRequest } from '../../transport/transport.js';
import { type BackoffLimits, retryDelayMs } from '../../policy/retry-delay.js';
import { clampTimer } from '../../policy/client-clock.js';
import { longestWaitMs } from '../../policy/polling/poll-schedule.js';
import type { RetryPolicy } from '../../policy/queue-options.js';
import type { Reading } from '../../transport/read-reply.js';
import { flow, type Steps } from '../flow.js';
import {
  exchange,
  passGate,
  requestKinds,
  type Asking,
  type ClientContext,
  type Judged,
  type RequestSlot,
  type WaitingEvent,
} from './exchange.js';
import { failureOf } from './outcome-of.js';
import type { JobTrace } from './request-report.js';

/**
 * A request that is free to repeat. Cold: one answer, then completion. Retries temporary failures, and errors with the
 * `TransportError` or the `ReplyError` of the last try.
 */
export function ask(
  asking: Asking,
  retry: Readonly<Required<RetryPolicy>>,
  context: ClientContext,
): Observable<Reading> {
  const mayAskAgain = ({ verdict }: Judged, failures: number) =>
    verdict.verdict === 'again' && failures <= retry.maxRetries;
  return askUntilAnswered({ ...asking, backoff: retry, mayAskAgain }, context).pipe(
    concatMap((step) => {
      if (step.type === 'waiting') return [];
      const { reading, fault } = step.judged;
      if (reading !== undefined && !('error' in reading)) return of(reading);
      return throwError(() => fault ?? reading.error);
    }),
  );
}

export interface Question extends Asking {
  readonly backoff: BackoffLimits;
  /** The longest wait, also if the service asks for more. @defaultValue as long as the service asks for */
  readonly longestWaitMs?: number;
  /** That of the requests, which may be held already. @defaultValue a new one */
  readonly slot?: RequestSlot | undefined;
  /** Called for each request that is sent. */
  readonly onCall?: () => void;
  /**
   * Whether to send the request again after this exchange. `failures` counts from 1. Called once for each exchange that
   * is not an answer.
   */
  readonly mayAskAgain: (judged: Judged, failures: number) => boolean;
}

export type Answered = WaitingEvent | { readonly type: 'answered'; readonly judged: Judged };

/**
 * Sends a request that is free to repeat, each time after a longer wait, until there is an answer or `mayAskAgain` returns
 * false. Then it emits the last exchange. Its only error is `closed`: a client that is closed sends nothing but cancellations.
 */
export function askUntilAnswered(question: Question, context: ClientContext): Observable<Answered> {
  return flow(() => asked(question, context));
}

function* asked(question: Question, context: ClientContext): Steps<Answered> {
  const { purpose, key, backoff, longestWaitMs: mostMs = Infinity, onCall, mayAskAgain } = question;
  let forMs: number | undefined;
  const slot = question.slot ?? context.slots?.of(requestKinds[purpose], purpose === 'route-get');
  try {
    for (let failures = 1; ; failures += 1) {
      if (purpose !== 'cancel') context.open.check(slot);
      yield passGate(context, requestKinds[purpose], key, slot);
      if (purpose !== 'cancel') context.open.check(slot);
      onCall?.();
      yield exchange(question, context, slot).pipe(
        map((judged): Answered => {
          const isLast = judged.verdict.verdict === 'answer' || !mayAskAgain(judged, failures);
          const delayMs = () => retryDelayMs(againAfter(judged), failures, context.random, backoff);
          forMs = isLast ? undefined : Math.min(delayMs(), mostMs);
          return forMs === undefined
            ? { type: 'answered', judged }
            : { type: 'waiting', why: whyWait(judged), forMs };
        }),
      );
      slot?.release();
      if (forMs === undefined) return;
      yield timer(clampTimer(forMs), context.scheduler).pipe(ignoreElements());
    }
  } finally {
    slot?.releaseLater();
  }
}

function whyWait({ verdict }: Judged): WaitReason {
  if (verdict.verdict === 'final' && verdict.code === 'expired') return 'not-found';
  return verdict.verdict === 'again' && verdict.why === 'rate-limited' ? 'rate-limited' : 'backoff';
}

/** The facts that decide the wait before another try. */
export function againAfter({ verdict, reading }: Judged): Parameters<typeof retryDelayMs>[0] {
  const retryAfterMs = reading !== undefined && 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { why: verdict.verdict === 'again' ? verdict.why : 'transient', retryAfterMs };
}

export interface PollQuestion {
  readonly key: string;
  readonly jobId: string;
  /** In ms since the epoch; without it the job counts as young. */
  readonly submittedAt?: number;
  /** Submitted by /runsync: a Retry-After of more than half a minute is cut, because the service would have forgotten the result. */
  readonly sync?: boolean | undefined;
  /** The job was given up before, so the first 404 is believed. */
  readonly wasExpired?: boolean;
  /** GET of the job's status. */
  readonly request: WireRequest;
  readonly backoff: BackoffLimits;
  readonly trace?: JobTrace | undefined;
}

/** Is notified of the requests of a poll. */
export interface PollWatch {
  onCall(): void;
  /** Called with the message of each request that brought no reply about the job. */
  onFault(message: string): void;
}

export type Polled =
  | WaitingEvent
  | { readonly type: 'replied'; readonly job: JobReply }
  | { readonly type: 'ended'; readonly outcome: Failed };

/** Extra tries with a key that is refused while jobs run, because that may be a temporary fault of the service. */
const keyRetries = 3;

/**
 * One poll: sends requests until there is a reply about this job. `ended` if the service no longer knows the job (a 404
 * that `isGone` believes), repeatedly refuses the key, fails TLS verification or redirects elsewhere; the job may have
 * been paid. For one subscription.
 *
 * @param slot that of its requests, if it is held already
 */
export function pollOnce(
  question: PollQuestion,
  context: ClientContext,
  watch?: PollWatch,
  slot?: RequestSlot,
): Observable<Polled> {
  const { jobId, request, key, backoff, trace } = question;
  let keyRefusals = 0;
  const isGivenUp = missing(question, context);
  const mayAskAgain = ({ verdict, fault, reading }: Judged) => {
    const error = fault ?? ('error' in reading ? reading.error : undefined);
    if (error !== undefined) watch?.onFault(error.message);
    if (verdict.verdict !== 'final') return true;
    if (verdict.code === 'expired') return !isGivenUp();
    return verdict.code === 'unauthorized' && ++keyRefusals <= keyRetries;
  };
  const onCall = () => watch?.onCall();
  const asking = { purpose: 'poll', request, jobId, key, backoff, trace, slot, onCall, mayAskAgain } as const;
  return askUntilAnswered({ ...asking, longestWaitMs: longestWaitMs(question) }, context).pipe(
    map((step) => (step.type === 'waiting' ? step : polled(step.judged, question))),
  );
}

function polled(judged: Judged, { jobId, request }: PollQuestion): Polled {
  const { verdict, reading } = judged;
  if (reading !== undefined && 'job' in reading)
    return { type: 'replied', job: { ...reading.job, id: jobId } };
  const code = verdict.verdict === 'final' ? verdict.code : 'expired';
  return { type: 'ended', outcome: failureOf(code, judged, { request, jobId, paid: 'maybe' }) };
}

/** Creates a function that counts each 404, and returns whether the job is given up. */
function missing({ submittedAt, wasExpired }: PollQuestion, { scheduler }: ClientContext): () => boolean {
  let since: number | undefined;
  let answers = 0;
  return () => {
    const now = scheduler.now();
    since ??= now;
    answers += 1;
    return (
      wasExpired === true || isGone({ ageMs: since - (submittedAt ?? since), forMs: now - since, answers })
    );
  };
}
