import type { Completed } from '../../contract/outcome.js';
import { reportedCostUsd } from '../../contract/reported-cost.js';

/** The answer of a load-balanced route as an outcome: there is no job around it. (spec 4.2) */
export function directAnswer(output: unknown): Completed<unknown> {
  return { status: 'completed', jobId: '', output, costUsd: reportedCostUsd(output) };
}
