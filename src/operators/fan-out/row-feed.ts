import { MillraceError } from '../../contract/millrace-error.js';

/** The source of a fan-out's rows. */
export interface Feed<T> {
  /** Called only when a slot is free. Returns `undefined` if there is no row now; `fill` is called when there may be one. */
  take(): IteratorResult<T, unknown> | undefined;
  /** Called when the fan-out is left or fails before the feed has ended. A feed that was left may be continued later. */
  close(): void;
  /** Whether the remaining rows can be taken after the run has failed, without taking any twice. */
  canGoOn(): boolean;
}

/** The fan-out that takes the rows of an asynchronous source. */
interface FeedOwner {
  /** Call it when a row or the end has arrived. */
  readonly fill: () => void;
  readonly fail: (error: unknown) => void;
}

/** The rows of an iterable, one `next()` at a time. */
export function feedOf<T>(source: Iterable<T> | AsyncIterable<T>, owner: FeedOwner): Feed<T> {
  return Symbol.asyncIterator in source ? asyncFeed(source, owner) : syncFeed(source);
}

function syncFeed<T>(source: Iterable<T>): Feed<T> {
  const iterator = source[Symbol.iterator]();
  let isOpen = true;
  let isPulling = false;
  let isLeft = false;
  /**
   * A generator that is running cannot be returned, so it is returned when it yields. An iterator without `return` can be
   * continued.
   */
  const leave = () => {
    if (!isOpen || isPulling || iterator.return === undefined) return;
    isOpen = false;
    quietly(() => iterator.return?.());
  };
  return {
    take() {
      if (!isOpen) throw closedSource();
      isPulling = true;
      try {
        const result = iterator.next();
        isOpen = result.done !== true;
        return result;
      } catch (error) {
        isOpen = false;
        throw error;
      } finally {
        isPulling = false;
        if (isLeft) leave();
      }
    },
    close() {
      isLeft = true;
      leave();
    },
    canGoOn: () => true,
  };
}

/** Calls one `next()` at a time. A row that arrives when its slot has been taken away waits for another slot. */
function asyncFeed<T>(source: AsyncIterable<T>, { fill, fail }: FeedOwner): Feed<T> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  let asked = false;
  let arrived: IteratorResult<T, unknown> | undefined;
  const arrive = (result: IteratorResult<T, unknown>) => {
    asked = false;
    arrived = result;
    isOpen &&= result.done !== true;
    fill();
  };
  const refuse = (error: unknown) => {
    isOpen = false;
    fail(error);
  };
  const ask = () => {
    asked = true;
    try {
      iterator.next().then(arrive, refuse);
    } catch (error) {
      refuse(error);
    }
  };
  return {
    take() {
      if (arrived !== undefined) {
        const result = arrived;
        arrived = undefined;
        return result;
      }
      if (!isOpen) throw closedSource();
      if (!asked) ask();
      return undefined;
    },
    close() {
      if (!isOpen || iterator.return === undefined) return;
      isOpen = false;
      quietly(() => iterator.return?.());
      if (asked) quietly(() => (source as { destroy?: () => unknown }).destroy?.());
    },
    canGoOn: () => true,
  };
}

function closedSource(): MillraceError {
  const message =
    'pullJobs: the run was left before its end, which closed its source, so the rows after it cannot be taken; give an array, or call pullJobs again with the rows that are left';
  return new MillraceError('source-closed', message);
}

/** Ignores errors, because the stream has ended and nobody can receive them. A stream that waits for data ends only by `destroy`. */
function quietly(end: () => unknown): void {
  try {
    Promise.resolve(end()).catch(() => undefined);
  } catch {
    // Ignored, as above.
  }
}
