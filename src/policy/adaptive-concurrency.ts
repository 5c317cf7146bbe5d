import { asyncScheduler, BehaviorSubject, type Observable, type SchedulerLike } from 'rxjs';
import type { Gate } from './gate.js';

/** Rows in flight, whole numbers. */
export interface AdaptiveConcurrencyOptions {
  /** Never fewer rows. @defaultValue 4 */
  min?: number;
  /** Never more rows. @defaultValue 100 */
  max?: number;
  /** What it begins with, within the bounds. @defaultValue 8 */
  start?: number;
  /** Its clock. @defaultValue asyncScheduler */
  scheduler?: SchedulerLike;
}

/** A concurrency that goes up and down with the answers of the service. */
export interface AdaptiveConcurrency {
  /** Rows in flight: the latest number at once, then each change. */
  readonly limit$: Observable<number>;
  /** The latest number. */
  readonly limit: number;
  /** Told of every answer. */
  observe(answer: Parameters<Gate['observe']>[0]): void;
}

/** Answers that were under way when the number went down do not bring it down again. */
const settleMs = 1_000;

/**
 * As many rows in flight as the service takes: one more for each submission that it takes until the first refusal, then
 * one more for each full round; half as many after a 429 or a 5xx.
 *
 * @example
 * ```ts
 * const auto = adaptiveConcurrency({ max: 50 });
 * const open = openGate();
 * const gate: typeof open = {
 *   ...open,
 *   observe(answer) {
 *     auto.observe(answer);
 *     open.observe(answer);
 *   },
 * };
 * const echo = createClient({ apiKey, baseUrl, gate }).queue('echo');
 * pullJobs(rows, (row) => echo.run(row), { concurrency: auto.limit$ }).subscribe(show);
 * ```
 */
export function adaptiveConcurrency(options: AdaptiveConcurrencyOptions = {}): AdaptiveConcurrency {
  const { min = 4, max = 100, start = 8, scheduler = asyncScheduler } = options;
  const limit$ = new BehaviorSubject(Math.min(Math.max(start, min), max));
  let wasRefused = false;
  let loweredAt = -Infinity;
  let taken = 0;

  function lower(): void {
    const now = scheduler.now();
    taken = 0;
    if (now - loweredAt < settleMs) return;
    loweredAt = now;
    wasRefused = true;
    set(Math.floor(limit$.value / 2));
  }

  function raise(): void {
    taken += 1;
    if (wasRefused && taken < limit$.value) return;
    taken = 0;
    set(limit$.value + 1);
  }

  function set(rows: number): void {
    const bounded = Math.min(Math.max(rows, min), max);
    if (bounded !== limit$.value) limit$.next(bounded);
  }

  return {
    limit$: limit$.asObservable(),
    get limit() {
      return limit$.value;
    },
    observe({ kind, status }) {
      if (status === 429 || status >= 500) lower();
      else if (kind === 'submit' && status >= 200 && status < 300) raise();
    },
  };
}
