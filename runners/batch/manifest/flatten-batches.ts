/**
 * The items of all batches, one at a time, each made when it is pulled. An async generator would do the same with three
 * more promises per item. Overlapping calls of `next` resolve in order.
 */
export function flattenBatches<T>(batches: AsyncGenerator<Iterable<T>>): AsyncIterableIterator<T> {
  return new Flattened(batches);
}

class Flattened<T> implements AsyncIterableIterator<T> {
  readonly #batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> = [][Symbol.iterator]();
  /** The latest refill that has not ended. */
  #refill: Promise<IteratorResult<T>> | undefined;

  constructor(batches: AsyncGenerator<Iterable<T>>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#refill === undefined) {
      const item = this.#take();
      if (item !== undefined) return item;
    }
    const after = this.#refill ?? Promise.resolve();
    const refill = after
      .then(() => this.#pull())
      .finally(() => {
        if (this.#refill === refill) this.#refill = undefined;
      });
    this.#refill = refill;
    return refill;
  }

  async return(): Promise<IteratorResult<T>> {
    this.#batch = [][Symbol.iterator]();
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  /** The next item of this batch. An error ends the whole iteration, as it would end a generator. */
  #take(): Promise<IteratorResult<T>> | undefined {
    try {
      const item = this.#batch.next();
      return item.done === true ? undefined : Promise.resolve(item);
    } catch (error) {
      return this.return().then(() => {
        throw error;
      });
    }
  }

  async #pull(): Promise<IteratorResult<T>> {
    for (;;) {
      const item = this.#take();
      if (item !== undefined) return item;
      const next = await this.#batches.next();
      if (next.done === true) return { done: true, value: undefined };
      this.#batch = next.value[Symbol.iterator]();
    }
  }
}
