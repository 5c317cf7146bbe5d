import { Observable, type Observer } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import { Heard, playTo, type Step } from '../in-turn.js';
import { uninterrupted } from './uninterrupted.js';

/** What happens in a job, step by step. */
export type Steps<O> = Iterable<Step<JobEvent<O>>, void>;

/**
 * Where the events of one job are played to whoever is subscribed. It plays on while somebody watches and goes on where
 * it stopped when somebody comes back; scenes that must not be cut off are played to their end before an empty house.
 */
export class Stage<O> implements Observer<JobEvent<O>> {
  /** Somebody is subscribed. */
  isWatched = false;
  private last: JobEvent<O> | undefined;
  private failure: { readonly error: unknown } | undefined;
  /** What is being played to its end. */
  scene: Observable<JobEvent<O>> | undefined;

  /** @param tell is told of every event, watched or not */
  constructor(private readonly tell: (event: JobEvent<O>) => void) {}

  /**
   * The hot stream of the job: the last event first, then the scene that is on, then what `play` goes on with.
   * @param left called when the last subscriber has gone, also after the end
   */
  open(play: () => Steps<O>, left: () => void): Observable<JobEvent<O>> {
    return new Observable((subscriber) => {
      const { failure } = this;
      if (failure !== undefined) return subscriber.error(failure.error);
      this.isWatched = true;
      playTo(subscriber, this.resumed(play));
      subscriber.add(() => {
        this.isWatched = false;
        left();
      });
    });
  }

  private resumed(play: () => Steps<O>): Steps<O> {
    const { last, scene } = this;
    return last === undefined && scene === undefined ? play() : this.caughtUp(play);
  }

  private *caughtUp(play: () => Steps<O>): Steps<O> {
    const { last, scene } = this;
    if (last !== undefined) yield last;
    if (scene !== undefined) yield scene;
    yield* play();
  }

  /** Remembers an event and tells of it. */
  note(event: JobEvent<O>): void {
    this.last = event;
    this.tell(event);
  }

  /** Remembers each event and tells of it. */
  noted(events: Observable<JobEvent<O>>): Heard<JobEvent<O>> {
    return Heard.of(events, (event) => {
      this.note(event);
      return event;
    });
  }

  /** A scene that is played to its end, whoever leaves; one at a time. Its error is the job's, for good. */
  uninterrupted(scene: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
    this.scene ??= scene.pipe(uninterrupted(this));
    return this.scene;
  }

  /** For the scene that is on, as the two below. */
  next(event: JobEvent<O>): void {
    this.note(event);
  }

  error(error: unknown): void {
    this.failure = { error };
    this.scene = undefined;
  }

  /** Not in a finalizer: that runs when whoever listens to the end has begun the next scene already. */
  complete(): void {
    this.scene = undefined;
  }
}
