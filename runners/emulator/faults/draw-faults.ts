import type { Fault, FaultRule, Operation } from './fault.js';
import { parseCertainFaults } from './parse-faults.js';

/** What is known of a request before its body is read. */
export interface ServiceRequest {
  operation: Operation;
  /** The endpoint's id; of a route its method and path, `POST /echo`. */
  endpoint?: string;
  jobId?: string;
}

/** Faults for one request: at most one of its reply, any number of the job that it submits. */
export interface DrawnFaults {
  reply?: Fault;
  job: readonly Fault[];
}

/** Picks the faults of a request by hand: `cut`, `429:2`, several with commas, or nothing for the rules to decide. */
export type FaultOf = (request: ServiceRequest) => string | undefined;

/** Draws each rule in order; the first fault of the reply wins. What `faultOf` picks comes before the rules. */
export function drawFaults(options: {
  rules: readonly FaultRule[];
  faultOf?: FaultOf | undefined;
  random: () => number;
}): (request: ServiceRequest) => DrawnFaults {
  const { rules, faultOf, random } = options;
  const drawn = ({ operation }: ServiceRequest): Fault[] =>
    rules.filter((rule) => rule.on.has(operation) && random() < rule.probability).map((rule) => rule.fault);
  return (request) => {
    const picked = faultOf?.(request);
    return sortOut(picked === undefined ? drawn(request) : parseCertainFaults(picked));
  };
}

function sortOut(faults: readonly Fault[]): DrawnFaults {
  const reply = faults.find((fault) => fault.phase !== 'job');
  return { ...(reply && { reply }), job: faults.filter((fault) => fault.phase === 'job') };
}
