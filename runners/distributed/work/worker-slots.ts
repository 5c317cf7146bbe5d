import { Subject } from 'rxjs';
import type { WorkKind } from '../records/work-queue.js';

/** The work items that a worker is processing, at most `count` at a time. */
export class WorkerSlots {
  /** Emits when a slot becomes free. */
  readonly freed = new Subject<void>();
  private readonly at = { submit: 0, poll: 0, download: 0 };
  private readonly items = new Set<string>();

  constructor(private readonly count: number) {}

  get free(): number {
    return this.count - this.busy;
  }

  get busy(): number {
    return this.at.submit + this.at.poll + this.at.download;
  }

  get does(): { submits: number; polls: number; downloads: number } {
    return { submits: this.at.submit, polls: this.at.poll, downloads: this.at.download };
  }

  /** Names of the items in progress, and of those whose answer could not be written. */
  get known(): ReadonlySet<string> {
    return this.items;
  }

  /** `work` never rejects. When it resolves to false, the answer could not be written, and the item stays in `known`. */
  take(kind: WorkKind, item: string, work: () => Promise<boolean>): void {
    this.at[kind] += 1;
    this.items.add(item);
    void work().then((isWritten) => {
      this.at[kind] -= 1;
      if (isWritten) this.items.delete(item);
      this.freed.next();
    });
  }
}
