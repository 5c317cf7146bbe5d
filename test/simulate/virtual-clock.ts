import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';

interface Entry {
  readonly at: number;
  readonly order: number;
  work: (() => void) | undefined;
}

/** What the clock waits for cannot come any more. */
export class StandStill extends Error {
  override readonly name = 'StandStill';
}

/** What went wrong in a simulation, for its report: a standstill in a sentence, all else with its stack. */
export function failureText(error: unknown): string {
  return error instanceof StandStill ? error.message : String((error as Error).stack ?? error);
}

/** Time that passes only when nothing else is left to be done. In ms since the epoch. */
export class VirtualClock {
  now = Date.UTC(2026, 0, 1);
  private order = 0;
  private readonly heap: Entry[] = [];

  /** Returns what takes it back. */
  in(ms: number, work: () => void): () => void {
    const entry: Entry = { at: this.now + Math.max(ms, 0), order: this.order++, work };
    this.push(entry);
    return () => (entry.work = undefined);
  }

  /**
   * Lets time pass until the promise has settled.
   *
   * @throws {StandStill} when nothing is planned and it has not, or when it takes longer than `mostMs`.
   */
  async until(promise: Promise<unknown>, mostMs: number): Promise<void> {
    const waited = { isOver: false };
    const end = (): void => void (waited.isOver = true);
    const isOver = (): boolean => waited.isOver;
    promise.then(end, end);
    const latest = this.now + mostMs;
    for (;;) {
      await settled();
      if (isOver()) return;
      const entry = this.next() ?? (await this.patience(isOver));
      if (isOver()) return;
      if (entry === undefined) throw new StandStill('nothing is planned, and the run has not ended');
      if (entry.at > latest) throw new StandStill(`the run has not ended within ${mostMs} ms`);
      this.now = entry.at;
      entry.work?.();
    }
  }

  /** Something may be on its way that virtual time knows nothing of: a module that is loaded, a thread. */
  private async patience(isOver: () => boolean): Promise<Entry | undefined> {
    for (let turn = 0; turn < 200 && !isOver(); turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const entry = this.next();
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  private next(): Entry | undefined {
    for (;;) {
      const entry = this.pop();
      if (entry === undefined || entry.work !== undefined) return entry;
    }
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  private pop(): Entry | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right;
      if (least === at) return first;
      [heap[at], heap[least]] = [heap[least]!, heap[at]!];
      at = least;
    }
  }
}

/** Every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}

/**
 * The clock as a run sees it: a run that is dead does nothing any more.
 *
 * @param latenessMs by how much a timer rings too late
 */
export function schedulerOf(
  clock: ClockOfRun,
  isDead: () => boolean,
  latenessMs: () => number = () => 0,
): SchedulerLike {
  return {
    now: () => clock.now,
    schedule: <T>(work: Work<T>, delay = 0, state?: T) =>
      new VirtualAction(clock, isDead, work).schedule(state, delay + latenessMs()),
  };
}

type ClockOfRun = Pick<VirtualClock, 'now' | 'in'>;
type Work<T> = (this: SchedulerAction<T>, state: T) => void;

class VirtualAction<T> extends Subscription implements SchedulerAction<T> {
  private takeBack: (() => void) | undefined;

  constructor(
    private readonly clock: ClockOfRun,
    private readonly isDead: () => boolean,
    private readonly work: Work<T>,
  ) {
    super(() => this.takeBack?.());
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.takeBack?.();
    this.takeBack = this.clock.in(delay, () => this.run(state));
    return this;
  }

  private run(state: T | undefined): void {
    this.takeBack = undefined;
    if (this.isDead()) return;
    this.work.call(this, state as T);
    if (!this.isPlanned()) this.unsubscribe();
  }

  private isPlanned(): boolean {
    return this.takeBack !== undefined;
  }
}
