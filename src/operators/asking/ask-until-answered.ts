import { catchError, map, of, throwError, type Observable } from 'rxjs';
import type { BackoffLimits } from '../../policy/backoff.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import { retryWithBackoff } from '../waiting/retry-with-backoff.js';
import { exchange, requestKinds, type Asking, type Desk, type Judged } from './exchange.js';
import { throughGate, type WaitingEvent } from './through-gate.js';

export interface Question extends Asking {
  /** Names the asker at the gate. */
  readonly key: string;
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
export function askUntilAnswered(question: Question, desk: Desk): Observable<Answered> {
  const { purpose, key, backoff, onCall, mayAskAgain } = question;
  const once = () => {
    onCall?.();
    return exchange(question, desk).pipe(
      map((judged): Answered => {
        if (judged.verdict.verdict !== 'answer') throw new NoAnswer(judged);
        return { type: 'answered', judged };
      }),
    );
  };
  const delayMs = (error: unknown, failures: number) =>
    error instanceof NoAnswer && mayAskAgain(error.judged, failures)
      ? retryDelayMs(againAfter(error.judged), failures, desk.random, backoff)
      : undefined;
  return throughGate<Answered>(desk.gate, { kind: requestKinds[purpose], key }, once).pipe(
    retryWithBackoff<Answered>({ delayMs, waiting, scheduler: desk.scheduler }),
    catchError((error: unknown) =>
      error instanceof NoAnswer
        ? of<Answered>({ type: 'answered', judged: error.judged })
        : throwError(() => error),
    ),
  );
}

/** What the wait before another try goes by. */
export function againAfter({ verdict, reading }: Judged): Parameters<typeof retryDelayMs>[0] {
  const retryAfterMs = reading !== undefined && 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { why: verdict.verdict === 'again' ? verdict.why : 'transient', retryAfterMs };
}

function waiting(forMs: number, error: unknown): WaitingEvent {
  const limited = error instanceof NoAnswer && againAfter(error.judged).why === 'rate-limited';
  return { type: 'waiting', why: limited ? 'rate-limited' : 'backoff', forMs };
}

/** Never seen by anybody outside. */
class NoAnswer extends Error {
  constructor(readonly judged: Judged) {
    super('no answer');
  }
}
