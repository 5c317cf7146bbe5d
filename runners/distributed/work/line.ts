import { firstValueFrom, race, timer, type Observable, type SchedulerLike } from 'rxjs';
import { backoff } from '../../../src/policy/backoff.js';
import { explainDatabase } from '../database/explain-database.js';
import { isAway } from '../database/is-away.js';

interface LineOptions {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** Emits when nothing is waited for any more. */
  readonly cut: Observable<unknown>;
  readonly tell: (event: { type: 'away'; message: string } | { type: 'back' }) => void;
}

const waits = { initialMs: 250, factor: 2, maxMs: 5_000 };

/** The line to the database: while it is broken whoever needs it tries again, ever more rarely, until it is back. */
export class Line {
  private failures = 0;
  private isCut = false;

  constructor(private readonly options: LineOptions) {
    options.cut.subscribe(() => (this.isCut = true));
  }

  /** What `work` does may be done again: a line that breaks does not say whether it was. */
  async insist<T>(work: () => Promise<T>): Promise<T> {
    const { scheduler, random, cut } = this.options;
    for (let failures = 1; ; failures++) {
      try {
        const result = await work();
        this.back();
        return result;
      } catch (error) {
        if (!isAway(error) || this.isCut) throw error;
        this.away(error);
        await firstValueFrom(race(timer(backoff(failures, random, waits), scheduler), cut));
      }
    }
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
