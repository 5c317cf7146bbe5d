import type { Gate } from '../../../src/policy/gate.js';

interface Listener {
  /** Called for each answer that shows the service can be reached and takes requests. */
  readonly heard: () => void;
  /** Told of every answer. */
  readonly observe?: Gate['observe'] | undefined;
}

/** The same gate, with somebody who listens to what it is told. */
export function listenTo(gate: Gate, { heard, observe }: Listener): Gate {
  return {
    admit: (request) => gate.admit(request),
    tryPass: (request) => gate.tryPass?.(request) ?? false,
    observe: (answer) => {
      gate.observe(answer);
      observe?.(answer);
      if (answer.status !== 0 && answer.status !== 429 && answer.status < 500) heard();
    },
  };
}
