/** The value below which a share of sorted values lies; 0 of none. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  const at = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1);
  return sorted[Math.max(0, at)] ?? 0;
}
