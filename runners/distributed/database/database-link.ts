import { firstValueFrom, race, timer, type Observable, type SchedulerLike } from 'rxjs';
import { backoff } from '../../../src/policy/backoff.js';
import { explainDatabase, isAway } from './database-error.js';

interface LineOptions {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** Emits when nothing new is begun. */
  readonly left: Observable<unknown>;
  /** Emits when nothing is waited for any more. */
  readonly cut: Observable<unknown>;
  readonly tell: (event: { type: 'away'; message: string } | { type: 'back' }) => void;
}

const waits = { initialMs: 250, factor: 2, maxMs: 5_000 };

/** The line to the database: while it is broken whoever needs it tries again, ever more rarely, until it is back. */
export class Line {
  private failures = 0;
  private hasLeft = false;
  private isCut = false;

  constructor(private readonly options: LineOptions) {
    options.left.subscribe(() => (this.hasLeft = true));
    options.cut.subscribe(() => (this.isCut = true));
  }

  /** What `work` does may be done again: a line that breaks does not say whether it was. */
  insist<T>(work: () => Promise<T>): Promise<T> {
    return this.repeat(work, this.options.cut, () => this.isCut);
  }

  /** The same for what begins something new: who leaves needs it no more. `undefined`: it was given up for that. */
  async look<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.repeat(work, this.options.left, () => this.hasLeft);
    } catch (error) {
      if (isAway(error)) return undefined;
      throw error;
    }
  }

  /** @throws what `work` rejects with, once it is not that the database is away, or nobody waits for it any more */
  private async repeat<T>(
    work: () => Promise<T>,
    over: Observable<unknown>,
    isOver: () => boolean,
  ): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (!isAway(error) || isOver()) throw error;
        await this.wait(failures, error, over);
      }
    }
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    const result = await work();
    this.back();
    return result;
  }

  private async wait(failures: number, error: unknown, until: Observable<unknown>): Promise<void> {
    const { scheduler, random } = this.options;
    this.away(error);
    await firstValueFrom(race(timer(backoff(failures, random, waits), scheduler), until));
  }

  private away(error: unknown): void {
    if (this.failures++ === 0)
      this.options.tell({
        type: 'away',
        message: `${explainDatabase(error, 'of the runs').message} Waiting for it.`,
      });
  }

  private back(): void {
    if (this.failures > 0) this.options.tell({ type: 'back' });
    this.failures = 0;
  }
}
