import { asyncScheduler, defer, finalize, map, Subject, startWith, switchMap, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { clampTimer } from './clamp-timer.js';
import type { PollSchedule } from './poll-schedule.js';

/** Durations in ms. */
export interface ExponentialOptions {
  /** From the submission to the first poll. @defaultValue 250 */
  initialMs?: number;
  /** Growth of each wait over the one before, at least 1. @defaultValue 1.5 */
  factor?: number;
  /** The longest wait. @defaultValue 5_000 */
  maxMs?: number;
}

/**
 * Asks soon at first and then ever more rarely. A wait begins when the reply before it was observed: a poll without a
 * reply is followed by none until it is tried again and answered. A job submitted long ago is asked for at once.
 */
export function exponential(
  options: ExponentialOptions = {},
  scheduler: SchedulerLike = asyncScheduler,
): PollSchedule {
  const { initialMs = 250, factor = 1.5, maxMs = 5_000 } = options;
  check('initialMs', initialMs, 0);
  check('factor', factor, 1);
  check('maxMs', maxMs, Math.max(initialMs, 1));
  const replies = new Map<string, Set<Subject<number>>>();
  return {
    pollTimes: ({ key, submittedAt }) =>
      defer(() => {
        const mine = new Subject<number>();
        join(replies, key, mine);
        let waitMs = initialMs;
        return mine.pipe(
          startWith(submittedAt),
          switchMap((from) => {
            const dueIn = clampTimer(from + waitMs - scheduler.now());
            waitMs = Math.min(Math.max(waitMs, 1) * factor, maxMs);
            return timer(dueIn, scheduler);
          }),
          map(() => undefined),
          finalize(() => leave(replies, key, mine)),
        );
      }),
    observe: (key, _reply, at) => replies.get(key)?.forEach((subject) => subject.next(at)),
  };
}

function check(name: string, value: number, least: number): void {
  if (!(value >= least))
    throw new InvalidOptionError(`exponential.${name}`, `is no number from ${least} on (got ${value})`);
}

function join(replies: Map<string, Set<Subject<number>>>, key: string, mine: Subject<number>): void {
  const others = replies.get(key);
  if (others) others.add(mine);
  else replies.set(key, new Set([mine]));
}

function leave(replies: Map<string, Set<Subject<number>>>, key: string, mine: Subject<number>): void {
  const all = replies.get(key);
  all?.delete(mine);
  if (all?.size === 0) replies.delete(key);
}
