import { concatMap, finalize, ignoreElements, map, of, throwError, timer, type Observable } from 'rxjs';
import type { WaitReason } from '../../contract/outcome.js';
import { type BackoffLimits, retryDelayMs } from '../../policy/retry-delay.js';
import { clampTimer } from '../../policy/clamp-timer.js';
import type { RetryPolicy } from '../../policy/queue-options.js';
import type { Reading } from '../../transport/read-reply.js';
import { flow } from '../flow.js';
import {
  exchange,
  passGate,
  requestKinds,
  type Asking,
  type ClientContext,
  type Judged,
  type WaitingEvent,
} from './exchange.js';

export interface AskOptions {
  readonly retry: Readonly<Required<RetryPolicy>>;
}

/**
 * A request that is free to repeat, cold: one answer, then completion. Tries again what may pass, then errors with the
 * `TransportError` or the `ReplyError` of the last try.
 */
export function ask(asking: Asking, { retry }: AskOptions, context: ClientContext): Observable<Reading> {
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
  /** Called for each request that is sent. */
  readonly onCall?: () => void;
  /** Whether to ask again after this. `failures` counts from 1. Called once for each exchange that is no answer. */
  readonly mayAskAgain: (judged: Judged, failures: number) => boolean;
}

export type Answered = WaitingEvent | { readonly type: 'answered'; readonly judged: Judged };

/**
 * Sends a request that is free to repeat, again and again, each time after a longer wait, until there is an answer or
 * `mayAskAgain` says no; then emits the last exchange as it is. Never errors by itself.
 */
export function askUntilAnswered(question: Question, context: ClientContext): Observable<Answered> {
  const { purpose, key, backoff, onCall, mayAskAgain } = question;
  return flow<Answered>(function* () {
    let forMs: number | undefined;
    const slot = context.slots?.of(requestKinds[purpose]);
    for (let failures = 1; ; failures += 1) {
      yield passGate(context, requestKinds[purpose], key, slot);
      onCall?.();
      const exchanged = exchange(question, context);
      yield (slot === undefined ? exchanged : exchanged.pipe(finalize(() => slot.release()))).pipe(
        map((judged): Answered => {
          const isLast = judged.verdict.verdict === 'answer' || !mayAskAgain(judged, failures);
          forMs = isLast ? undefined : retryDelayMs(againAfter(judged), failures, context.random, backoff);
          return forMs === undefined
            ? { type: 'answered', judged }
            : { type: 'waiting', why: whyWait(judged), forMs };
        }),
      );
      if (forMs === undefined) return;
      yield timer(clampTimer(forMs), context.scheduler).pipe(ignoreElements());
    }
  });
}

function whyWait({ verdict }: Judged): WaitReason {
  if (verdict.verdict === 'final' && verdict.code === 'expired') return 'not-found';
  return verdict.verdict === 'again' && verdict.why === 'rate-limited' ? 'rate-limited' : 'backoff';
}

/** What the wait before another try goes by. */
export function againAfter({ verdict, reading }: Judged): Parameters<typeof retryDelayMs>[0] {
  const retryAfterMs = reading !== undefined && 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { why: verdict.verdict === 'again' ? verdict.why : 'transient', retryAfterMs };
}
