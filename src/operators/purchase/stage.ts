import {
  concat,
  defer,
  EMPTY,
  finalize,
  of,
  ReplaySubject,
  share,
  tap,
  throwError,
  type Observable,
} from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import { uninterrupted } from './uninterrupted.js';

/**
 * Where the events of one job are played to whoever is subscribed. It plays on while somebody watches and goes on where
 * it stopped when somebody comes back; scenes that must not be cut off are played to their end before an empty house.
 */
export class Stage<O> {
  /** Somebody is subscribed. */
  isWatched = false;
  private last: JobEvent<O> | undefined;
  private failure: { readonly error: unknown } | undefined;
  private scene: Observable<JobEvent<O>> | undefined;

  /** @param tell is told of every event, watched or not */
  constructor(private readonly tell: (event: JobEvent<O>) => void) {}

  /**
   * The hot stream of the job: the last event first, then the scene that is on, then what `play` goes on with.
   * @param left called when the last subscriber has gone, also after the end
   */
  open(play: () => Observable<JobEvent<O>>, left: () => void): Observable<JobEvent<O>> {
    return defer(() => {
      const { failure } = this;
      if (failure !== undefined) return throwError(() => failure.error);
      this.isWatched = true;
      return this.resumed(play).pipe(
        finalize(() => {
          this.isWatched = false;
          left();
        }),
      );
    });
  }

  private resumed(play: () => Observable<JobEvent<O>>): Observable<JobEvent<O>> {
    const { last, scene } = this;
    const told = last === undefined ? EMPTY : of(last);
    if (scene !== undefined) return concat(told, scene, defer(play));
    return last === undefined ? play() : concat(told, defer(play));
  }

  /** Remembers each event and tells of it. */
  noted<T extends JobEvent<O>>(events: Observable<T>): Observable<T> {
    return events.pipe(
      tap((event) => {
        this.last = event;
        this.tell(event);
      }),
    );
  }

  /** A scene that is played to its end, whoever leaves; one at a time. Its error is the job's, for good. */
  uninterrupted(scene: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
    if (this.scene !== undefined) return this.scene;
    const ends = {
      error: (error: unknown) => {
        this.failure = { error };
        this.scene = undefined;
      },
      // Not in a finalizer: that runs when whoever listens to the end has begun the next scene already.
      complete: () => (this.scene = undefined),
    };
    this.scene = this.noted(scene).pipe(tap(ends), uninterrupted());
    return this.scene;
  }
}

/** One run of the source for all subscribers at a time; who comes late is told the last event first. */
export function joinedByAll<T>(events: Observable<T>): Observable<T> {
  return events.pipe(
    share({
      connector: () => new ReplaySubject<T>(1),
      resetOnComplete: false,
      resetOnError: true,
      resetOnRefCountZero: true,
    }),
  );
}
