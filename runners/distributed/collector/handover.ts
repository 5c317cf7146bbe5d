/** Passes values from a producer to a consumer, one at a time: the producer waits until its value is taken. */
export class Handover<T> implements AsyncIterable<T> {
  private readonly given: { value: T; taken: () => void }[] = [];
  private readonly waiting: ((end: IteratorResult<T, undefined>) => void)[] = [];
  private isClosed = false;

  /** Resolves when the value is taken, or when the handover is closed. */
  give(value: T): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    const taker = this.waiting.shift();
    if (taker !== undefined) {
      taker({ value, done: false });
      return Promise.resolve();
    }
    return new Promise((taken) => this.given.push({ value, taken }));
  }

  /** Ends the iteration: nothing more is given. */
  close(): void {
    this.isClosed = true;
    for (const taker of this.waiting.splice(0)) taker({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined, undefined> {
    return {
      next: () => {
        const next = this.given.shift();
        next?.taken();
        if (next !== undefined) return Promise.resolve({ value: next.value, done: false });
        if (this.isClosed) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.waiting.push(resolve));
      },
      return: () => {
        this.close();
        for (const { taken } of this.given.splice(0)) taken();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }
}
