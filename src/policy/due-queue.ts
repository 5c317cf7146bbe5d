import { throwError, type SchedulerLike, type Subscription } from 'rxjs';
import { clampTimer } from './client-clock.js';

/**
 * An entry that waits for a point in time, in at most one queue. Initially `dueAt` is 0 and `place` is below 0, which means
 * that it is in no queue.
 */
export interface Due {
  /** In ms since the epoch, by the scheduler of its queue. */
  dueAt: number;
  /** Its index in the queue; only the queue writes it. */
  place: number;
  /** Called when its time has come, after it has left the queue. */
  due(): void;
}

/** The place of an entry that is called next, unless it is removed. */
const called = -2;
const outside = -1;
const lateMs = 1_000;

/**
 * One timer for all entries, in the order of their times, because a timer for each would take 350 bytes. Entries with the same
 * time are called in the order in which they were set. If the clock is set back, entries wait until it shows their time again.
 */
export class DueQueue {
  /** A binary heap: each entry is due no later than its two children. */
  readonly #heap: Due[] = [];
  readonly #turns: number[] = [];
  #turn = 0;
  #timer: Subscription | undefined;
  #timerAt = Infinity;

  constructor(private readonly scheduler: SchedulerLike) {}

  /** Waits until `at` (ms since the epoch, by the scheduler), also if the entry was waiting for another time. */
  set(due: Due, at: number): void {
    this.#take(due);
    due.dueAt = Number.isNaN(at) ? 0 : at;
    this.#turn += 1;
    this.#up(due, this.#turn, this.#heap.length);
    this.#wind();
  }

  remove(due: Due): void {
    this.#take(due);
    if (this.#heap.length === 0) this.#stop();
  }

  #take(due: Due): void {
    const { place } = due;
    due.place = outside;
    if (place < 0) return;
    const last = this.#heap.pop();
    const turn = this.#turns.pop() ?? 0;
    if (last === undefined || last === due) return;
    const parent = (place - 1) >> 1;
    if (place > 0 && this.#isBefore(last, turn, parent)) this.#up(last, turn, place);
    else this.#down(last, turn, place);
  }

  #stop(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }

  /** A timer that fires too early is kept. One that is far too late was set before the clock was set forward, and is replaced. */
  #wind(): void {
    const [first] = this.#heap;
    if (first === undefined) return;
    const now = this.scheduler.now();
    if (first.dueAt >= this.#timerAt && now - this.#timerAt < lateMs) return;
    this.#stop();
    this.#timerAt = Math.max(first.dueAt, now);
    if (this.#timerAt < Infinity)
      this.#timer = this.scheduler.schedule(() => this.#ring(), clampTimer(this.#timerAt - now));
  }

  /** Entries that are set meanwhile for a past time are called at the next timer. */
  #ring(): void {
    this.#stop();
    const now = this.scheduler.now();
    const due: Due[] = [];
    for (let [first] = this.#heap; first !== undefined && first.dueAt <= now; [first] = this.#heap) {
      this.#take(first);
      first.place = called;
      due.push(first);
    }
    for (const each of due) {
      if (each.place !== called) continue;
      each.place = outside;
      try {
        each.due();
      } catch (error) {
        // Reported as rxjs does, so that the entries after it are called all the same.
        throwError(() => error).subscribe();
      }
    }
    this.#wind();
  }

  #isBefore(due: Due, turn: number, place: number): boolean {
    const { dueAt = Infinity } = this.#heap[place] ?? {};
    return due.dueAt < dueAt || (due.dueAt === dueAt && turn < (this.#turns[place] ?? 0));
  }

  #put(due: Due, turn: number, place: number): void {
    due.place = place;
    this.#heap[place] = due;
    this.#turns[place] = turn;
  }

  #up(due: Due, turn: number, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || !this.#isBefore(due, turn, parent)) break;
      this.#put(above, this.#turns[parent] ?? 0, place);
      place = parent;
    }
    this.#put(due, turn, place);
  }

  #down(due: Due, turn: number, from: number): void {
    let place = from;
    for (;;) {
      let next = 2 * place + 1;
      const right = this.#heap[next + 1];
      if (right !== undefined && this.#isBefore(right, this.#turns[next + 1] ?? 0, next)) next += 1;
      const below = this.#heap[next];
      if (below === undefined || this.#isBefore(due, turn, next)) break;
      this.#put(below, this.#turns[next] ?? 0, place);
      place = next;
    }
    this.#put(due, turn, place);
  }
}
