/** Time as the emulator sees it, so that a test can let seven days pass at once. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `act` once after so many ms; the returned function takes it back. */
  readonly after: (ms: number, act: () => void) => () => void;
}

/** Node clamps longer timers to 1 ms. */
const longestTimer = 2_147_483_647;

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(Math.max(0, ms), longestTimer));
    return () => clearTimeout(timer);
  },
};
