import type { Observable } from 'rxjs';
import type { WaitReason } from '../contract/outcome.js';

/** What a request is for. Polls of accepted jobs go before new submissions. */
export type RequestKind = 'submit' | 'poll' | 'cancel' | 'other';

/** One gate before every request of a run: rate, the shared pause after a 429, the pause of a storm. */
export interface Gate {
  /** Requests a second that it lets pass, told or found out; absent or `undefined` where there is no limit now. */
  readonly ratePerSecond?: number | undefined;
  /**
   * Completes when the request may be sent; before that it emits each wait that a person may want to hear of.
   * Unsubscribing gives the place back.
   */
  admit(request: { kind: RequestKind; key: string }): Observable<{ why: WaitReason; forMs: number }>;
  /**
   * Where a request need not wait: true, and it has passed, as by an `admit` that completes at once. Else `admit` is asked.
   * A gate may do without it: it spares a stream for each request. One that is made of another gate, with an `admit` of its
   * own, leaves it out or has its own as well.
   */
  tryPass?(request: { kind: RequestKind; key: string }): boolean;
  /** Told of every answer, so that one row's 429 holds all rows back. `status` 0: no reply came. */
  observe(answer: { kind: RequestKind; status: number; retryAfterMs?: number }): void;
}
