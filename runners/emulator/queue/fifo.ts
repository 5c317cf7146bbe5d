/** First in, first out, with a cheap end on both sides. */
export interface Fifo<T> {
  push(item: T): void;
  /** The oldest, which stays. */
  peek(): T | undefined;
  shift(): T | undefined;
}

/** An array with a moving head: the array's own `shift` moves every item once there are many. */
export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (item) => void items.push(item),
    peek: () => items[head],
    shift() {
      const item = items[head];
      if (head < items.length) items[head++] = undefined;
      if (head > 1_000 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
