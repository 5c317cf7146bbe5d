import { from, type Observable, type ObservableInput } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import type { Gate, GateRequest } from '../../policy/gates/gate.js';
import { Heard, inTurn } from '../in-turn.js';

export type WaitingEvent = Extract<JobEvent<never>, { type: 'waiting' }>;

/** Waits at the gate, tells of the wait, then goes on. Unsubscribing gives the place back. */
export function throughGate<T>(
  gate: Gate,
  request: GateRequest,
  then: () => ObservableInput<T>,
): Observable<T | WaitingEvent> {
  return inTurn<T | WaitingEvent>(function* () {
    yield admitted(gate, request);
    yield from(then());
  });
}

/** The wait at the gate as a step of a flow. */
export function admitted(gate: Gate, request: GateRequest): Heard<WaitingEvent> {
  return Heard.of(gate.admit(request), (wait): WaitingEvent => ({ type: 'waiting', ...wait }));
}
