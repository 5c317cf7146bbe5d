import { BehaviorSubject, type Observable, type SchedulerLike } from 'rxjs';
import { checkNames, checkNumber } from '../../contract/check-option.js';
import { lateClock, type Clock } from '../client-clock.js';
import { isSuccess } from '../may-send-again.js';
import type { GateAnswer } from './gate.js';
import { RefusalTrial } from './refusal-trial.js';

/** Whole numbers of rows in flight. */
export interface AdaptiveConcurrencyOptions {
  /** The lower bound. @defaultValue 4 */
  min?: number | undefined;
  /** The upper bound. @defaultValue 100 */
  max?: number | undefined;
  /** The first limit, within the bounds. @defaultValue 8 */
  start?: number | undefined;
  /** Its clock. @defaultValue that of the first client, by `useClock` */
  scheduler?: SchedulerLike | undefined;
}

/** A concurrency that follows the answers of the service. */
export interface AdaptiveConcurrency {
  /** Emits the current number of rows in flight, then each change. */
  readonly limit$: Observable<number>;
  /** The current number. */
  readonly limit: number;
  /** Call it with every answer. */
  observe(answer: Pick<GateAnswer, 'kind' | 'status'>): void;
  /** As `Gate.useClock`. */
  useClock(clock: Clock): void;
}

/** Answers up to this many ms after a change may belong to requests sent before it. */
const settleMs = 1_000;
/** The share of the rows in flight that remains when refusals begin, and in a trial that checks whether they follow the load. */
const half = 0.5;
const farBelow = 0.5;

/**
 * Keeps as many rows in flight as the service accepts: one more for each accepted submission until the first refusals, then one
 * more for each full round, and half as many when more than a few answers are refusals (429) or failures (5xx). If fewer rows
 * in flight do not reduce the refusals, they are noise: the cut is taken back, and that share is expected from then on.
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
 *   useClock(clock) {
 *     auto.useClock(clock);
 *     open.useClock?.(clock);
 *   },
 * };
 * const echo = createClient({ apiKey, baseUrl, gate }).queue('echo');
 * pullJobs(rows, (row) => echo.run(row), { concurrency: auto.limit$ }).subscribe(show);
 * ```
 */
export function adaptiveConcurrency(options: AdaptiveConcurrencyOptions = {}): AdaptiveConcurrency {
  const sought = new SoughtConcurrency(options);
  return {
    limit$: sought.limit$,
    get limit() {
      return sought.limit;
    },
    observe: sought.observe,
    useClock: sought.useClock,
  };
}

class SoughtConcurrency {
  readonly limit$: Observable<number>;
  readonly #rows: BehaviorSubject<number>;
  readonly #min: number;
  readonly #max: number;
  readonly #clock: ReturnType<typeof lateClock>;
  readonly #trial = new RefusalTrial();
  /** Rows in flight before the cut, until they are reached again. */
  #before: number | undefined;
  /** Rows in flight in the latest trial that ended in a verdict of noise. */
  #inTrial = 0;
  #wasRefused = false;
  #changedAt = -Infinity;
  #taken = 0;

  constructor(options: AdaptiveConcurrencyOptions) {
    checkNames(options, 'adaptiveConcurrency', ['min', 'max', 'start', 'scheduler']);
    const { min = 4, max = 100, start = 8, scheduler } = options;
    for (const [name, rows] of Object.entries({ min, max, start }))
      checkNumber(name, rows, 'number from 0 on');
    this.#min = min;
    this.#max = max;
    this.#clock = lateClock({ ...(scheduler !== undefined && { scheduler }) });
    this.#rows = new BehaviorSubject(Math.min(Math.max(start, min), max));
    this.limit$ = this.#rows.asObservable();
  }

  get limit(): number {
    return this.#rows.value;
  }

  readonly observe = ({ kind, status }: Pick<GateAnswer, 'kind' | 'status'>): void => {
    if (status === 0) return;
    const isRefused = status === 429 || status >= 500;
    const now = this.#clock.scheduler.now();
    if (Math.abs(now - this.#changedAt) < settleMs) return;
    const isBelow = this.#before !== undefined && this.limit < this.#before;
    if (!isBelow && !this.#trial.isTrying) this.#before = undefined;
    const step = this.#trial.observe(isRefused, isBelow);
    if (step === 'lower') this.#lower(half, now);
    else if (step === 'try') this.#lower(farBelow, now);
    else if (step === 'noise') this.#takeBack(now);
    // Even the latest trial was above the limit.
    else if (step === 'limit') this.#change(Math.floor(this.#inTrial * half), now);
    else if (kind === 'submit' && isSuccess(status) && !this.#trial.isTrying) this.#raise();
  };

  readonly useClock = (clock: Clock): void => this.#clock.use(clock);

  #lower(part: number, now: number): void {
    this.#before ??= this.limit;
    this.#wasRefused = true;
    this.#change(Math.floor(this.limit * part), now);
  }

  #takeBack(now: number): void {
    const before = this.#before ?? this.limit;
    this.#before = undefined;
    this.#inTrial = this.limit;
    this.#change(before, now);
  }

  #change(rows: number, now: number): void {
    this.#changedAt = now;
    this.#taken = 0;
    this.set(rows);
  }

  #raise(): void {
    this.#taken += 1;
    if (this.#wasRefused && this.#taken < this.limit) return;
    this.#taken = 0;
    this.set(this.limit + 1);
  }

  private set(rows: number): void {
    const bounded = Math.min(Math.max(rows, this.#min), this.#max);
    if (bounded !== this.limit) this.#rows.next(bounded);
  }
}
