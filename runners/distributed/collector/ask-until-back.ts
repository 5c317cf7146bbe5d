import {
  BehaviorSubject,
  filter,
  firstValueFrom,
  map,
  race,
  timer,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { explainDatabase } from '../database/database-error.js';

export interface Asking {
  /** Ends the waiting: what is asked then fails. */
  readonly left$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
  /** Told once each time that the database goes, with what is wrong. */
  readonly away: (message: string) => void;
  readonly back: () => void;
}

export type Ask = <T>(question: () => Promise<T>) => Promise<T>;

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * Asks the database until it answers: one that is away comes back, and whatever is asked may be asked twice. What is
 * wrong with the question itself is an error at once.
 */
export function askUntilBack({ left$, scheduler, away, back }: Asking): Ask {
  const isAway$ = new BehaviorSubject(false);
  const pause = (ms: number): Promise<'left' | 'again'> =>
    firstValueFrom(
      race(
        left$.pipe(map(() => 'left' as const)),
        timer(ms, scheduler).pipe(map(() => 'again' as const)),
        isAway$.pipe(
          filter((isAway) => !isAway),
          map(() => 'again' as const),
        ),
      ),
    );
  return async (question) => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const answer = await question();
        if (isAway$.value) back();
        isAway$.next(false);
        return answer;
      } catch (error) {
        const explained = explainDatabase(error, 'of the run');
        if (explained.code !== 'database-away') throw error;
        if (!isAway$.value) away(explained.message);
        isAway$.next(true);
        if ((await pause(pauseMs)) === 'left') throw explained;
      }
    }
  };
}
