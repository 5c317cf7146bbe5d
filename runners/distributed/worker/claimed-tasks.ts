import type { Task } from '../../batch/row/task.js';

/** The tasks of rows that a worker has taken, each when it is asked for. Ends once it is closed, with those that nobody asked for left out. */
export class ClaimedTasks implements AsyncIterable<Task> {
  private readonly tasks: Task[] = [];
  private readonly takers: ((next: IteratorResult<Task, undefined>) => void)[] = [];
  private isClosed = false;

  add(task: Task): void {
    const taker = this.takers.shift();
    if (taker === undefined) this.tasks.push(task);
    else taker({ value: task, done: false });
  }

  close(): void {
    this.isClosed = true;
    for (const taker of this.takers.splice(0)) taker({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<Task, undefined, undefined> {
    return {
      next: () => {
        if (this.isClosed) return Promise.resolve({ value: undefined, done: true });
        const value = this.tasks.shift();
        if (value !== undefined) return Promise.resolve({ value, done: false });
        return new Promise((resolve) => this.takers.push(resolve));
      },
      return: () => {
        this.close();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }
}
