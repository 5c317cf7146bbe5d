/** A finite number, or what stands in for it. */
export function numberOr<T>(value: unknown, other: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : other;
}
