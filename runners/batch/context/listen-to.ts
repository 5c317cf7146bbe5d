import { concat } from 'rxjs';
import type { Gate, GateAnswer } from '../../../src/policy/gates/gate.js';
import type { BesidePolls } from './beside-polls.js';

interface Listener {
  /** Called for each answer that shows the service can be reached and takes requests. */
  readonly heard: (answer: GateAnswer) => void;
  /** Called for each of the others. */
  readonly notHeard: (answer: GateAnswer) => void;
  /** Called for every answer. */
  readonly observe?: Gate['observe'] | undefined;
  /** The slots of rows: one that gave its slot away waits for one before it is sent. */
  readonly beside: Pick<BesidePolls, 'mustReturn' | 'returned'>;
}

/** The same gate; it also passes each answer on to the listener. */
export function listenTo(gate: Gate, { heard, notHeard, observe, beside }: Listener): Gate {
  return {
    admit: (request) =>
      request.kind === 'submit'
        ? concat(gate.admit(request), beside.returned(request.key))
        : gate.admit(request),
    tryPass: (request) =>
      !(request.kind === 'submit' && beside.mustReturn(request.key)) && (gate.tryPass?.(request) ?? false),
    observe: (answer) => {
      gate.observe(answer);
      observe?.(answer);
      if (answer.status !== 0 && answer.status !== 429 && answer.status < 500) heard(answer);
      else notHeard(answer);
    },
  };
}
