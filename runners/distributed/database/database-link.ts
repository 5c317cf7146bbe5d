import {
  BehaviorSubject,
  defer,
  delay,
  filter,
  firstValueFrom,
  map,
  merge,
  race,
  Subject,
  take,
  timer,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { backoff } from '../../../src/policy/retry-delay.js';
import { BrokenDatabase, DatabaseError, explainDatabase, isAway, isBroken } from './database-error.js';

export interface DatabaseLinkOptions {
  /** What messages call the database, as in "The database of the run". */
  readonly shown: string;
  readonly scheduler: SchedulerLike;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Emits when no new work is started: `look` gives up. @defaultValue never */
  readonly left?: Observable<unknown>;
  /** Emits when waiting has to end: `insist` gives up. */
  readonly cut: Observable<unknown>;
  /** Called once each time the database goes away, and once when it is back. */
  readonly notify: (event: { type: 'away'; message: string } | { type: 'back' }) => void;
}

/** A query that was sent is awaited for this long after waiting has to end: a database that hangs would never answer. */
const hungMs = 5_000;
const waits = { initialMs: 250, factor: 2, maxMs: 5_000 };

/** Repeats work that fails because the database is away, with growing pauses, until the database is back. */
export class DatabaseLink {
  private readonly answered$ = new Subject<void>();
  private readonly hasLeft = new BehaviorSubject(false);
  private readonly isCut = new BehaviorSubject(false);
  /** How much work waits for the database. */
  private waiting = 0;

  constructor(private readonly options: DatabaseLinkOptions) {
    (options.left ?? options.cut).subscribe(() => this.hasLeft.next(true));
    options.cut.subscribe(() => this.isCut.next(true));
  }

  /** Repeats `work` until it succeeds. It may run twice: a broken connection does not say whether it was committed. */
  insist<T>(work: () => Promise<T>): Promise<T> {
    return this.repeat(work, this.isCut);
  }

  /** Like `insist`, for work that a leaving worker can skip: resolves to `undefined` once the worker leaves. */
  async look<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.repeat(work, this.hasLeft);
    } catch (error) {
      if (isAway(error)) return undefined;
      throw error;
    }
  }

  /**
   * @throws {BrokenDatabase}
   * @throws what `work` rejects with, unless the database is away and `isOver` is false
   */
  private async repeat<T>(work: () => Promise<T>, isOver: BehaviorSubject<boolean>): Promise<T> {
    const over = isOver.pipe(filter(Boolean));
    let failures = 0;
    try {
      for (;;) {
        try {
          const result = await this.untilHung(work, over);
          this.noteAnswer(failures);
          return result;
        } catch (error) {
          if (isBroken(error)) throw new BrokenDatabase(error, this.options.shown);
          if (!isAway(error)) this.noteAnswer(failures);
          if (!isAway(error) || isOver.value) throw error;
          if (failures++ === 0) this.noteFailure(error);
          const { scheduler, random } = this.options;
          await firstValueFrom(
            race(timer(backoff(failures, random, waits), scheduler), this.answered$, over),
          );
        }
      }
    } finally {
      if (failures > 0) this.waiting -= 1;
    }
  }

  private untilHung<T>(work: () => Promise<T>, over: Observable<unknown>): Promise<T> {
    const { shown, scheduler } = this.options;
    const hung = over.pipe(
      take(1),
      delay(hungMs, scheduler),
      map(() => {
        throw new DatabaseError('database-away', `The database ${shown} has not answered in time.`);
      }),
    );
    return firstValueFrom(merge(defer(work), hung));
  }

  /** @param failures how often the work that is done now had failed because the database was away */
  private noteAnswer(failures: number): void {
    this.answered$.next();
    if (failures > 0 && this.waiting === 1) this.options.notify({ type: 'back' });
  }

  private noteFailure(error: unknown): void {
    if (this.waiting++ > 0) return;
    const message = `${explainDatabase(error, this.options.shown).message} Waiting for it.`;
    this.options.notify({ type: 'away', message });
  }
}
