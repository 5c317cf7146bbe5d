import type { Clock } from '../../runners/emulator/clock.js';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Lets the time pass, timer by timer, and what follows from each before the next. */
  advance(ms: number): Promise<void>;
  /** Timers that are set. */
  pending(): number;
}

export function manualClock(start = Date.UTC(2027, 0, 1)): ManualClock {
  let time = start;
  const timers = new Set<{ at: number; act: () => void }>();
  const nextBy = (end: number) =>
    [...timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
  return {
    now: () => time,
    after(ms, act) {
      const timer = { at: time + Math.max(0, ms), act };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const end = time + ms;
      for (let timer = nextBy(end); timer; timer = nextBy(end)) {
        timers.delete(timer);
        time = Math.max(time, timer.at);
        timer.act();
        await settled();
      }
      time = end;
      await settled();
    },
    pending: () => timers.size,
  };
}

/** Lets promises and what is ready on sockets have their turn. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
