import type { SchedulerAction, SchedulerLike, Subscription, Unsubscribable } from 'rxjs';
import { clampTimer } from '../../policy/clamp-timer.js';

/**
 * Calls functions at points in time, by one timer for all of them: for deadlines, which are cancelled as a rule. A timer
 * of rxjs for each takes 0.8 µs more a job, a thirtieth of the CPU of a job over a free transport.
 */
export class TimerQueue {
  /** The earliest. The list is searched from its end: what comes late is mostly due late. */
  private first: Entry | undefined;
  private last: Entry | undefined;
  /** Set only while there are entries: it would keep the process alive. */
  private timer: Subscription | undefined;

  constructor(private readonly scheduler: SchedulerLike) {}

  /** In ms since the epoch, by the scheduler. */
  now(): number {
    return this.scheduler.now();
  }

  /** @param at in ms since the epoch, by the scheduler */
  callAt(at: number, work: () => void): Unsubscribable {
    const entry = new Entry(this, at, work);
    entry.before = this.last;
    while (entry.before !== undefined && entry.before.at > at) {
      entry.after = entry.before;
      entry.before = entry.before.before;
    }
    this.link(entry.before, entry);
    this.link(entry, entry.after);
    if (this.first === entry) this.setTimer();
    return entry;
  }

  /** Called by an entry that is cancelled or due. */
  remove({ before, after }: Entry): void {
    this.link(before, after);
    if (this.first === undefined) this.setTimer();
  }

  private link(before: Entry | undefined, after: Entry | undefined): void {
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
  }

  private setTimer(): void {
    this.timer?.unsubscribe();
    this.timer = this.first && callAt(this.first.at, this.scheduler, () => this.run());
  }

  /** The entry that the timer was set for may have been cancelled since. */
  private run(): void {
    try {
      for (let due = this.first; due !== undefined && due.at <= this.scheduler.now(); due = this.first) {
        due.unsubscribe();
        due.work();
      }
    } finally {
      this.setTimer();
    }
  }
}

class Entry implements Unsubscribable {
  before: Entry | undefined;
  after: Entry | undefined;
  private isRemoved = false;

  constructor(
    private readonly queue: TimerQueue,
    readonly at: number,
    readonly work: () => void,
  ) {}

  unsubscribe(): void {
    if (this.isRemoved) return;
    this.isRemoved = true;
    this.queue.remove(this);
    this.before = this.after = undefined;
  }
}

interface Call {
  readonly at: number;
  readonly scheduler: SchedulerLike;
  readonly work: () => void;
}

/**
 * Calls a function at a point in time (ms since the epoch, by the scheduler), also beyond what one timer can hold and
 * after the clock was set back.
 */
export function callAt(at: number, scheduler: SchedulerLike, work: () => void): Subscription {
  return scheduler.schedule<Call>(wait, clampTimer(at - scheduler.now()), { at, scheduler, work });
}

function wait(this: SchedulerAction<Call>, call?: Call): void {
  if (call === undefined) return;
  const { at, scheduler, work } = call;
  const left = at - scheduler.now();
  if (left > 0) this.schedule(call, clampTimer(left));
  else work();
}
