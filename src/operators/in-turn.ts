import {
  EMPTY,
  isObservable,
  Observable,
  type Observer,
  type Subscriber,
  type Subscription,
  type Unsubscribable,
} from 'rxjs';

/** A step of a flow: a stream that is played to its end, or a value that is told as it is. */
export type Step<T> = Observable<T> | Heard<T> | T;

/** A stream as a step, each of whose values is handed over; what comes of it is told, unless it is `undefined`. */
export abstract class Heard<T> {
  abstract readonly source: Observable<unknown>;
  abstract hear(value: unknown): T | undefined;

  /** Nothing more is to be heard: the stream is left, and the flow goes on. */
  get isOver(): boolean {
    return false;
  }

  /** Whether an error of the stream is taken in: then the flow goes on. Else it is the flow's own. */
  takesError?(error: unknown): boolean;

  static of<S, T>(source: Observable<S>, hear: (value: S) => T | undefined): Heard<T> {
    return new HeardBy<T>(source, hear as (value: unknown) => T | undefined);
  }
}

class HeardBy<T> extends Heard<T> {
  constructor(
    readonly source: Observable<unknown>,
    readonly hear: (value: unknown) => T | undefined,
  ) {
    super();
  }
}

/**
 * Plays steps one after another. With a generator, what stands between two `yield`s runs when the stream before it has
 * completed and was torn down: as `concat` of many `defer`s would, in the order of the text and at a part of the cost,
 * which every request pays several times.
 */
export function inTurn<T>(steps: () => Iterable<Step<T>>): Observable<T> {
  return new Observable((subscriber) => playTo(subscriber, steps()));
}

/** The same for a subscriber that is there already. */
export function playTo<T>(subscriber: Subscriber<T>, steps: Iterable<Step<T>>): void {
  new Flow(steps[Symbol.iterator](), subscriber).go();
}

/** The flow hears each of its streams itself: a closure for each would be most of what a step costs. */
class Flow<T> implements Observer<unknown>, Unsubscribable {
  private isGoing = false;
  /** The stream that is on is over, and was no error. */
  private hasEnded = false;
  private heard: Heard<T> | undefined;
  private playing: Subscription | undefined;

  constructor(
    private readonly steps: Iterator<Step<T>, unknown>,
    private readonly subscriber: Subscriber<T>,
  ) {}

  /** A loop and no recursion: steps that end at once do not nest, however many there are. */
  go(): void {
    if (this.isGoing) return;
    this.isGoing = true;
    while (!this.subscriber.closed && this.takeStep());
    this.isGoing = false;
  }

  next(value: unknown): void {
    const { heard } = this;
    if (heard === undefined) return this.subscriber.next(value as T);
    try {
      const told = heard.hear(value);
      if (told !== undefined) this.subscriber.next(told);
      if (heard.isOver) this.leave();
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  error(error: unknown): void {
    try {
      if (this.heard?.takesError?.(error) === true) this.hasEnded = true;
      else this.subscriber.error(error);
    } catch (thrown) {
      this.subscriber.error(thrown);
    }
  }

  complete(): void {
    this.hasEnded = true;
  }

  /** Of the stream that was on: what comes next begins when it is torn down. */
  unsubscribe(): void {
    if (this.hasEnded) this.go();
  }

  private leave(): void {
    this.hasEnded = true;
    this.playing?.unsubscribe();
  }

  /** True when the step is over already. */
  private takeStep(): boolean {
    const step = this.nextStep();
    if (step === undefined) return false;
    const { value } = step;
    if (step.done === true) this.subscriber.complete();
    else if (value instanceof Heard) return this.isOver(value);
    else if (isObservable(value)) return value === EMPTY || this.isOver(value);
    else this.subscriber.next(value as T);
    return true;
  }

  private nextStep(): IteratorResult<Step<T>, unknown> | undefined {
    try {
      return this.steps.next();
    } catch (error) {
      this.subscriber.error(error);
      return undefined;
    }
  }

  private isOver(step: Heard<T> | Observable<unknown>): boolean {
    this.hasEnded = false;
    this.heard = step instanceof Heard ? step : undefined;
    this.playing = undefined;
    const playing = this.begun(step);
    if (playing === undefined || playing.closed) return true;
    this.playing = playing;
    this.subscriber.add(playing);
    playing.add(this);
    return false;
  }

  /** Already left where one value was enough, and came at once. */
  private begun(step: Heard<T> | Observable<unknown>): Subscription | undefined {
    try {
      const playing = (step instanceof Heard ? step.source : step).subscribe(this);
      if (step instanceof Heard && step.isOver) playing.unsubscribe();
      return playing;
    } catch (error) {
      this.error(error);
      return undefined;
    }
  }
}
