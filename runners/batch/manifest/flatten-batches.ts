/**
 * One item after the other from batches, each made when it is asked for. An async generator would do the same with three
 * more promises an item. Calls of `next` that overlap are answered in order.
 */
export function flattenBatches<T>(batches: AsyncGenerator<Iterable<T>>): AsyncIterableIterator<T> {
  return new Flattened(batches);
}

class Flattened<T> implements AsyncIterableIterator<T> {
  readonly #batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> = [][Symbol.iterator]();
  /** The last refill under way. */
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

  /** The next item of this batch; what cannot be made ends the whole, as an error of a generator does. */
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
