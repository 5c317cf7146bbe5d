/** A larger figure is no price, and would not fit into whole micro-dollars. */
const maxUsd = 1_000_000_000;

/** The price in USD that an output reports under `cost`, or `null`: missing, null, negative and no number are all "not reported". */
export function reportedCostUsd(output: unknown): number | null {
  if (typeof output !== 'object' || output === null || !('cost' in output)) return null;
  const { cost } = output;
  return typeof cost === 'number' && cost >= 0 && cost <= maxUsd ? cost : null;
}
