import type { SchedulerLike, Subscription, Unsubscribable } from 'rxjs';
import { callAt } from './call-at.js';

/** Does things at points in time, as `callAt` does, with one timer for all of them: for what is called off as a rule. */
export class Agenda {
  /** The earliest; the list is searched from its end, as who comes late is mostly due late. */
  private first: Appointment | undefined;
  private last: Appointment | undefined;
  /** Set only while there are appointments: it would keep the process alive. */
  private alarm: Subscription | undefined;

  constructor(private readonly scheduler: SchedulerLike) {}

  /** @param at in ms since the epoch, by the scheduler */
  callAt(at: number, work: () => void): Unsubscribable {
    const made = new Appointment(this, at, work);
    made.before = this.last;
    while (made.before !== undefined && made.before.at > at) {
      made.after = made.before;
      made.before = made.before.before;
    }
    this.join(made.before, made);
    this.join(made, made.after);
    if (this.first === made) this.setAlarm();
    return made;
  }

  /** For an appointment that is off. */
  forget({ before, after }: Appointment): void {
    this.join(before, after);
    if (this.first === undefined) this.setAlarm();
  }

  private join(before: Appointment | undefined, after: Appointment | undefined): void {
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
  }

  private setAlarm(): void {
    this.alarm?.unsubscribe();
    this.alarm = this.first && callAt(this.first.at, this.scheduler, () => this.ring());
  }

  /** What it was set for may have been called off since. */
  private ring(): void {
    try {
      for (let due = this.first; due !== undefined && due.at <= this.scheduler.now(); due = this.first) {
        due.unsubscribe();
        due.work();
      }
    } finally {
      this.setAlarm();
    }
  }
}

class Appointment implements Unsubscribable {
  before: Appointment | undefined;
  after: Appointment | undefined;
  private isOff = false;

  constructor(
    private readonly agenda: Agenda,
    readonly at: number,
    readonly work: () => void,
  ) {}

  unsubscribe(): void {
    if (this.isOff) return;
    this.isOff = true;
    this.agenda.forget(this);
    this.before = this.after = undefined;
  }
}
