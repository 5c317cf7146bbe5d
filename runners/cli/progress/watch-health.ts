import {
  catchError,
  EMPTY,
  exhaustMap,
  filter,
  interval,
  type Observable,
  type SchedulerLike,
  type Subscription,
  throttleTime,
} from 'rxjs';
import type { ProgressView } from './progress-view.js';

const lookEveryMs = 5_000;
/** How long the queue has to stand still before the service is asked, in ms. */
const stillForMs = 30_000;
const askEveryMs = 60_000;

export interface HealthWatch {
  readonly view: (at: number) => ProgressView;
  /** Asks for the service's health, in a few words; called at most once a minute. */
  readonly ask: () => Observable<string>;
  readonly note: (words: string) => void;
  readonly scheduler: SchedulerLike;
}

/** Asks for the service's health while jobs wait in its queue and none is started. Failed requests are ignored. */
export function watchHealth({ view, ask, note, scheduler }: HealthWatch): Subscription {
  return interval(lookEveryMs, scheduler)
    .pipe(
      filter(() => waitsInQueue(view(scheduler.now()))),
      throttleTime(askEveryMs, scheduler),
      exhaustMap(() => ask().pipe(catchError(() => EMPTY))),
    )
    .subscribe(note);
}

function waitsInQueue({ queued, working, stillMs }: ProgressView): boolean {
  return queued > 0 && working === 0 && stillMs >= stillForMs;
}
