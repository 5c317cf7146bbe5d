import { EMPTY, isObservable, Observable } from 'rxjs';

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
  return new Observable((subscriber) => {
    const flow = steps()[Symbol.iterator]();
    let isGoing = false;

    /** A loop and no recursion: steps that end at once do not nest, however many there are. */
    function go(): void {
      if (isGoing) return;
      isGoing = true;
      while (!subscriber.closed && takeStep());
      isGoing = false;
    }

    /** True when the step is over already. */
    function takeStep(): boolean {
      const step = nextOf(flow, fail);
      if (step === undefined) return false;
      if (step.done === true) subscriber.complete();
      else if (isObservable(step.value)) return step.value === EMPTY || isOver(step.value, tell);
      else if (step.value instanceof Heard) return isHeard(step.value);
      else subscriber.next(step.value);
      return true;
    }

    function isHeard({ source, hear }: Heard<T>): boolean {
      return isOver(source, (value) => {
        try {
          const told = hear(value);
          if (told !== undefined) subscriber.next(told);
        } catch (error) {
          fail(error);
        }
      });
    }

    function isOver<V>(stream: Observable<V>, next: (value: V) => void): boolean {
      let hasEnded = false;
      const playing = stream.subscribe({ next, error: fail, complete: () => (hasEnded = true) });
      if (playing.closed) return true;
      subscriber.add(playing);
      playing.add(() => {
        if (hasEnded) go();
      });
      return false;
    }

    function tell(value: T): void {
      subscriber.next(value);
    }

    function fail(error: unknown): void {
      subscriber.error(error);
    }

    go();
  });
}

function nextOf<T>(
  flow: Iterator<Step<T>, unknown>,
  fail: (error: unknown) => void,
): IteratorResult<Step<T>, unknown> | undefined {
  try {
    return flow.next();
  } catch (error) {
    fail(error);
    return undefined;
  }
}
