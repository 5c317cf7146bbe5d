import { from, map, type Observable, type ObservableInput } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import type { Gate, RequestKind } from '../../policy/gate.js';
import { inTurn } from '../in-turn.js';

export type WaitingEvent = Extract<JobEvent<never>, { type: 'waiting' }>;

/** Waits at the gate, tells of the wait, then goes on. Unsubscribing gives the place back. */
export function throughGate<T>(
  gate: Gate,
  request: { kind: RequestKind; key: string },
  then: () => ObservableInput<T>,
): Observable<T | WaitingEvent> {
  return inTurn<T | WaitingEvent>(function* () {
    yield gate.admit(request).pipe(map((wait): WaitingEvent => ({ type: 'waiting', ...wait })));
    yield from(then());
  });
}
