import { concatMap, of, throwError, type Observable } from 'rxjs';
import type { RetryPolicy } from '../../policy/queue-options.js';
import type { Reading } from '../../transport/read-reply.js';
import { askUntilAnswered } from './ask-until-answered.js';
import type { Asking, Desk, Judged } from './exchange.js';

export interface AskOptions {
  readonly retry: Readonly<Required<RetryPolicy>>;
}

/**
 * A request that is free to repeat, cold: one answer, then completion. Tries again what may pass, then errors with the
 * `TransportError` or the `ReplyError` of the last try.
 */
export function ask(asking: Asking, { retry }: AskOptions, desk: Desk): Observable<Reading> {
  const mayAskAgain = ({ verdict }: Judged, failures: number) =>
    verdict.verdict === 'again' && failures <= retry.maxRetries;
  return askUntilAnswered({ ...asking, backoff: retry, mayAskAgain }, desk).pipe(
    concatMap((step) => {
      if (step.type === 'waiting') return [];
      const { reading, fault } = step.judged;
      if (reading !== undefined && !('error' in reading)) return of(reading);
      return throwError(() => fault ?? reading.error);
    }),
  );
}
