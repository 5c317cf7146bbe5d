import { EMPTY, isObservable, Observable, type Observer, type Subscriber } from 'rxjs';

/** A step of a flow: a stream that is played to its end, or a value that is told as it is. */
export type Step<T> = Observable<T> | Heard<T> | T;

/** A stream as a step, each of whose values is handed over; what comes of it is told, unless it is `undefined`. */
export class Heard<T> {
  private constructor(
    readonly source: Observable<unknown>,
    readonly hear: (value: unknown) => T | undefined,
  ) {}

  static of<S, T>(source: Observable<S>, hear: (value: S) => T | undefined): Heard<T> {
    return new Heard<T>(source, hear as (value: unknown) => T | undefined);
  }
}

/**
 * Plays steps one after another. With a generator, what stands between two `yield`s runs when the stream before it has
 * completed and was torn down: as `concat` of many `defer`s would, in the order of the text and at a part of the cost,
 * which every request pays several times.
 */
export function inTurn<T>(steps: () => Iterable<Step<T>>): Observable<T> {
  return new Observable((subscriber) => new Flow(steps()[Symbol.iterator](), subscriber).go());
}

/** The flow hears each of its streams itself: a closure for each would be most of what a step costs. */
class Flow<T> implements Observer<unknown> {
  private isGoing = false;
  /** The stream that is on has completed. */
  private hasEnded = false;
  private hear: ((value: unknown) => T | undefined) | undefined;

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
    try {
      if (this.hear === undefined) return this.subscriber.next(value as T);
      const told = this.hear(value);
      if (told !== undefined) this.subscriber.next(told);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  complete(): void {
    this.hasEnded = true;
  }

  /** True when the step is over already. */
  private takeStep(): boolean {
    const step = this.nextStep();
    if (step === undefined) return false;
    const { value } = step;
    if (step.done === true) this.subscriber.complete();
    else if (value instanceof Heard) return this.isOver(value.source, value.hear);
    else if (isObservable(value)) return value === EMPTY || this.isOver(value, undefined);
    else this.subscriber.next(value as T);
    return true;
  }

  private nextStep(): IteratorResult<Step<T>, unknown> | undefined {
    try {
      return this.steps.next();
    } catch (error) {
      this.error(error);
      return undefined;
    }
  }

  private isOver(
    stream: Observable<unknown>,
    hear: ((value: unknown) => T | undefined) | undefined,
  ): boolean {
    this.hasEnded = false;
    this.hear = hear;
    const playing = stream.subscribe(this);
    if (playing.closed) return true;
    this.subscriber.add(playing);
    playing.add(() => {
      if (this.hasEnded) this.go();
    });
    return false;
  }
}
