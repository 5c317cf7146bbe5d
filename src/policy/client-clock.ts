import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/** The clock and the random numbers of a client, for its gate and its poll schedules. */
export interface Clock {
  readonly scheduler: SchedulerLike;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The clock of a gate or schedule that was created without one: that of the first client that uses it. */
export class LateClock implements Clock {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  readonly #later = new LateScheduler();
  #chance: () => number = Math.random;

  constructor({ scheduler, random }: Partial<Clock>) {
    this.scheduler = scheduler ?? this.#later;
    this.random = random ?? (() => this.#chance());
  }

  use({ scheduler, random }: Clock): void {
    if (this.#later.given !== undefined) return;
    this.#later.given = scheduler;
    this.#chance = random;
  }
}

/** Returns a `LateClock` as it is, and wraps anything else. */
export function lateClock(options: Partial<Clock>): LateClock {
  return options instanceof LateClock ? options : new LateClock(options);
}

class LateScheduler implements SchedulerLike {
  given: SchedulerLike | undefined;

  now(): number {
    return (this.given ?? asyncScheduler).now();
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    const { given = asyncScheduler } = this;
    return state === undefined ? given.schedule(work, delay) : given.schedule(work, delay, state);
  }
}

/**
 * A clock that never goes back. When the wall clock is set back, it continues from the latest time it returned.
 * Otherwise a poll that is due in a minute would wait an hour longer, and the service would have forgotten the result.
 */
export function steadyClock(wall: SchedulerLike = asyncScheduler): SchedulerLike {
  let latest = -Infinity;
  let setBackMs = 0;
  return {
    now() {
      const time = wall.now();
      setBackMs = Math.max(setBackMs, latest - time);
      latest = time + setBackMs;
      return latest;
    },
    ...timersOf(wall),
  };
}

/**
 * The clock of a run: the wall clock at the beginning plus the time that has passed since. So it never jumps: if the wall clock
 * were set forward by an hour, all rows in flight would reach their deadlines although their jobs still run.
 *
 * @param elapsedMs a monotonic clock, in ms
 */
export function runClock(
  wall: SchedulerLike = asyncScheduler,
  elapsedMs: () => number = () => performance.now(),
): SchedulerLike {
  const begunAt = wall.now() - elapsedMs();
  return { ...timersOf(wall), now: () => Math.floor(begunAt + elapsedMs()) };
}

/** The same clock, ahead by this many milliseconds. */
export function clockAhead(wall: SchedulerLike, byMs: number): SchedulerLike {
  return { ...timersOf(wall), now: () => Math.floor(wall.now() + byMs) };
}

export function timersOf(wall: SchedulerLike): Pick<SchedulerLike, 'schedule'> {
  return {
    schedule: <T>(
      work: (this: SchedulerAction<T>, state?: T) => void,
      delay?: number,
      state?: T,
    ): Subscription => wall.schedule(work, delay, state),
  };
}

/** A timer that is set to more than this fires after 1 ms. */
const maxTimerMs = 2 ** 31 - 1;

/** A delay in ms within the bounds of a timer: from 0 to 2^31 − 1, about 24.8 days; NaN counts as 0. */
export function clampTimer(ms: number): number {
  if (Number.isNaN(ms)) return 0;
  return Math.min(Math.max(ms, 0), maxTimerMs);
}
