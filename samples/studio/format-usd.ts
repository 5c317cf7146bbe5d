/** `$0.0875`, `$1.50`: at least cents, at most what a price list has. */
export function formatUsd(usd: number): string {
  return `$${usd.toFixed(4).replace(/0{1,2}$/, '')}`;
}
