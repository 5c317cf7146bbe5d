import { concat, defer, map, type Observable, type ObservableInput } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import type { Gate, RequestKind } from '../../policy/gate.js';

export type WaitingEvent = Extract<JobEvent<never>, { type: 'waiting' }>;

/** Waits at the gate, tells of the wait, then goes on. Unsubscribing gives the place back. */
export function throughGate<T>(
  gate: Gate,
  request: { kind: RequestKind; key: string },
  then: () => ObservableInput<T>,
): Observable<T | WaitingEvent> {
  const waits = defer(() => gate.admit(request)).pipe(
    map((wait): WaitingEvent => ({ type: 'waiting', ...wait })),
  );
  return concat(waits, defer(then));
}
