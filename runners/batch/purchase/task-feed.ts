import type { Task } from '../row/task.js';

/** Tasks for `buyRows`, each when it is asked for. It ends once it is closed, with those that nobody asked for left out. */
export class TaskFeed implements AsyncIterable<Task> {
  private readonly given: { readonly task: Task; readonly taken: () => void }[] = [];
  private readonly takers: ((next: IteratorResult<Task, undefined>) => void)[] = [];
  private isClosed = false;

  /** Resolves when the task is taken, or the feed is closed. */
  give(task: Task): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    const taker = this.takers.shift();
    if (taker === undefined) return new Promise((taken) => this.given.push({ task, taken }));
    taker({ value: task, done: false });
    return Promise.resolve();
  }

  close(): void {
    this.isClosed = true;
    for (const taker of this.takers.splice(0)) taker({ value: undefined, done: true });
    for (const { taken } of this.given.splice(0)) taken();
  }

  [Symbol.asyncIterator](): AsyncIterator<Task, undefined, undefined> {
    return {
      next: () => {
        const next = this.given.shift();
        next?.taken();
        if (next !== undefined) return Promise.resolve({ value: next.task, done: false });
        if (this.isClosed) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.takers.push(resolve));
      },
      return: () => {
        this.close();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }
}
