import { filter, firstValueFrom, merge, timer, type Observable, type SchedulerLike } from 'rxjs';

/** Records that arrive together are written together … */
const gatherMs = 2;
/**
 * … and a group waits this long for more, unless half of the worker's rows have something to write: fewer commits are better
 * for all workers. If the last group had something from nearly all rows, they are in step, and the group waits for all of them
 * …
 */
const patienceMs = { alone: 12, shared: 25, inStep: 40 };
const nearlyAll = 3 / 4;
/** … and if commits take longer, the group waits as long as the last commit took, up to this. */
const mostPatienceMs = 250;

/** The worker's rows, and how many of them have something to write. */
export interface RowsInGroup {
  readonly rows: number;
  readonly waiting: number;
}

/** Decides how long the next group of records waits for more. */
export class GroupTiming {
  /** Whether no other worker works on the run. */
  private isAlone = false;
  /** Whether other workers do, and the last group had something from nearly all rows. */
  private isInStep = false;
  private commitMs = 0;

  constructor(private readonly scheduler: SchedulerLike) {}

  /**
   * Resolves when the next group should be written.
   *
   * @param arrived emits when there is more to write
   */
  async gathered(arrived: Observable<void>, now: () => RowsInGroup): Promise<void> {
    const { scheduler, isAlone } = this;
    await firstValueFrom(timer(gatherMs, scheduler));
    if (this.isEnough(now())) return;
    const least = this.isInStep ? patienceMs.inStep : patienceMs.shared;
    const shared = Math.min(Math.max(least, this.commitMs), mostPatienceMs);
    const enough = arrived.pipe(filter(() => this.isEnough(now())));
    await firstValueFrom(merge(timer(isAlone ? patienceMs.alone : shared, scheduler), enough));
  }

  /** Call this when a group is made of what waits. */
  drawn({ rows, waiting }: RowsInGroup): void {
    this.isInStep = !this.isAlone && rows > 0 && waiting >= nearlyAll * rows;
  }

  committed(tookMs: number, isAlone: boolean): void {
    this.commitMs = tookMs;
    this.isAlone = isAlone;
  }

  private isEnough({ rows, waiting }: RowsInGroup): boolean {
    return waiting >= (this.isInStep ? 1 : 1 / 2) * rows;
  }
}
