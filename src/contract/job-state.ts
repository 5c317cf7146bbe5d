/** States of spec section 3, then those that live services send as well. Any other state is kept and is not terminal. */
export const jobStates = [
  'IN_QUEUE',
  'IN_PROGRESS',
  'COMPLETED',
  'FAILED',
  'RUNNING',
  'CANCELLED',
  'TIMED_OUT',
] as const;

/** A state of a job that is known. (spec 3) */
export type JobState = (typeof jobStates)[number];

const terminal: ReadonlySet<string> = new Set<JobState>(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** Whether a job in this state has ended. Only the state says so: `IN_PROGRESS` may carry a partial output. */
export function isTerminal(status: string): boolean {
  return terminal.has(status);
}
