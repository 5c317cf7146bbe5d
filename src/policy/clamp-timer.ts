/** A timer set beyond this fires after 1 ms. */
const maxTimerMs = 2 ** 31 - 1;

/** A delay in ms within the bounds of a timer: from 0 to 2^31 − 1, about 24.8 days; NaN counts as 0. */
export function clampTimer(ms: number): number {
  if (Number.isNaN(ms)) return 0;
  return Math.min(Math.max(ms, 0), maxTimerMs);
}
