import { EMPTY, isObservable, Observable } from 'rxjs';

/** A step of a flow: a stream that is played to its end, or a value that is told as it is. */
export type Step<T> = Observable<T> | T;

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
      const step = nextOf(flow, (error) => subscriber.error(error));
      if (step === undefined) return false;
      if (step.done === true) subscriber.complete();
      else if (isObservable(step.value)) return step.value === EMPTY || isOver(step.value);
      else subscriber.next(step.value);
      return true;
    }

    function isOver(stream: Observable<T>): boolean {
      let hasEnded = false;
      const playing = stream.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => subscriber.error(error),
        complete: () => (hasEnded = true),
      });
      if (playing.closed) return true;
      subscriber.add(playing);
      playing.add(() => {
        if (hasEnded) go();
      });
      return false;
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
