import { BehaviorSubject, type SchedulerLike, type Subscription } from 'rxjs';

/** Whether callbacks come: `hoped` before any job has ended. */
export type CallbackState = 'hoped' | 'coming' | 'missing';

/** So many ends are looked at. */
const window = 20;
/** A callback that is later than its poll by no more than this was on its way. */
const graceMs = 2_000;
/** How much of the slowest turnaround is kept at each job. */
const memory = 0.98;

/** Finds out whether the service calls back, by the ends of jobs: of each, whether a callback named it or only a poll. */
export class CallbackHealth {
  readonly state$ = new BehaviorSubject<CallbackState>('hoped');
  /** From a submission to its callback, about the longest of late in ms; 0: none has come. */
  slowestMs = 0;
  private readonly ends: boolean[] = [];
  /** Jobs whose end a poll has seen, and whose callback may be on its way. */
  private readonly polledEnds = new Map<
    string,
    { readonly wait: Subscription; readonly submittedAt: number }
  >();

  constructor(private readonly scheduler: SchedulerLike) {}

  /** A callback came about a job that was submitted `turnaroundMs` ago. */
  came(key: string, turnaroundMs: number): void {
    this.polledEnds.get(key)?.wait.unsubscribe();
    this.polledEnds.delete(key);
    this.slowestMs = Math.max(turnaroundMs, this.slowestMs * memory);
    this.add(true);
  }

  /** A poll saw the end of a job that was submitted at `submittedAt`. */
  polled(key: string, submittedAt: number): void {
    if (this.polledEnds.has(key)) return;
    const wait = this.scheduler.schedule(() => {
      this.polledEnds.delete(key);
      this.add(false);
    }, graceMs);
    this.polledEnds.set(key, { wait, submittedAt });
  }

  /** A callback came about a job that has ended: where a poll has just seen that, it was on its way. */
  cameAfterEnd(key: string): void {
    const polled = this.polledEnds.get(key);
    if (polled !== undefined) this.came(key, this.scheduler.now() - polled.submittedAt);
  }

  /** A poll has seen the end of a job, and its callback may be on its way. */
  get isUndecided(): boolean {
    return this.polledEnds.size > 0;
  }

  private add(isCalled: boolean): void {
    this.ends.push(isCalled);
    if (this.ends.length > window) this.ends.shift();
    const called = this.ends.filter(Boolean).length;
    const state = called * 2 >= this.ends.length ? 'coming' : 'missing';
    if (state !== this.state$.value) this.state$.next(state);
  }
}
