import type { Gate } from '../../../src/policy/gate.js';

/** The same gate; `heard` is called for each answer that shows the service can be reached and takes requests. */
export function listenTo(gate: Gate, heard: () => void): Gate {
  return {
    admit: (request) => gate.admit(request),
    observe: (answer) => {
      gate.observe(answer);
      if (answer.status !== 0 && answer.status !== 429 && answer.status < 500) heard();
    },
  };
}
