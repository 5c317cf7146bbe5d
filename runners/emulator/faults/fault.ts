/** What a request is for. `route` is a call of a load-balanced route, `picture` the download of an edited picture. */
export const operations = [
  'run',
  'runsync',
  'status',
  'status-sync',
  'stream',
  'cancel',
  'retry',
  'health',
  'purge-queue',
  'route',
  'picture',
] as const;

/** What a request asks for, as faults name it. */
export type Operation = (typeof operations)[number];

/**
 * When a fault applies: `before` the request has any effect, `after` it (the job runs, the answer is lost or
 * spoiled), or to the `job` itself.
 */
export type FaultPhase = 'before' | 'after' | 'job';

/** One thing that goes wrong. */
export interface Fault {
  /** As in the table of faults, without `-after`: `cut`, `429`, `price`. */
  name: string;
  phase: FaultPhase;
  /** What stands behind the colon. */
  value?: string;
}

/** A fault with its probability and the operations it is drawn for. */
export interface FaultRule {
  fault: Fault;
  on: ReadonlySet<Operation>;
  /** From 0 to 1. */
  probability: number;
}
