import type { Subscription } from 'rxjs';
import type { PollPlan } from './plan-polls.js';
import type { BelievedStart, QueueLine } from './queue-line.js';

/** A job that is being asked about. Times in ms since the epoch by the scheduler. */
export interface LaneJob {
  readonly variant: string;
  readonly submittedAt: number;
  /** Sends the poll. */
  readonly poll: () => void;
}

/** Asked again after a waiting answer: half a gap of starts at first, then later and later. */
const waitingBackoff = { gaps: 0.5, leastMs: 250, factor: 1.6, mostMs: 30_000 };

/** One job in flight: what its replies have told, when it is believed to have started, and when it is worth a question. */
export class TrackedJob {
  readonly variant: string;
  readonly submittedAt: number;
  readonly poll: () => void;
  polling = false;
  timer: Subscription | undefined;
  /** It had not ended then. */
  private aliveAt: number;
  /** It had not started then. */
  private waitingAt: number;
  private timesWaiting = 0;
  private startedAt: number | undefined;

  /** @param rank its place in the line */
  constructor(
    { variant, submittedAt, poll }: LaneJob,
    readonly rank: number,
  ) {
    this.variant = variant;
    this.submittedAt = submittedAt;
    this.poll = poll;
    this.aliveAt = submittedAt;
    this.waitingAt = submittedAt;
  }

  startBy(line: QueueLine): BelievedStart | undefined {
    if (this.startedAt !== undefined) return { at: this.startedAt, by: 'count', gapMs: 0 };
    const believed = line.startOf(this.rank, this.submittedAt);
    return believed === undefined ? undefined : { ...believed, at: Math.max(believed.at, this.waitingAt) };
  }

  /** When it is to be asked next; `undefined`: not before those ahead have moved. */
  dueBy(line: QueueLine, planOf: (variant: string) => PollPlan): number | undefined {
    const start = this.startBy(line);
    if (start === undefined) return undefined;
    const wait = planOf(this.variant).nextAgeMs(Math.max(0, this.aliveAt - start.at));
    const due = start.at + (start.by === 'pace' ? wait / 2 : wait);
    if (this.timesWaiting === 0) return due;
    const { gaps, leastMs, factor, mostMs } = waitingBackoff;
    const pause = Math.max(leastMs, gaps * start.gapMs) * factor ** (this.timesWaiting - 1);
    const again = this.waitingAt + Math.min(mostMs, pause);
    return start.by === 'pace' ? again : Math.max(due, again);
  }

  /** How old it was when it was last known to be at work; `undefined` while it waits, or while its start is a guess. */
  runningAgeBy(line: QueueLine): number | undefined {
    const start = this.timesWaiting === 0 ? this.startBy(line) : undefined;
    return start?.by === 'count' && this.aliveAt > start.at ? this.aliveAt - start.at : undefined;
  }

  /** How long it is believed to have run when a reply at this time says that it has ended. */
  ranForMs(line: QueueLine, end: { at: number; startedAt?: number; endedAt?: number }): number {
    const endsAbout = end.endedAt ?? (this.aliveAt + end.at) / 2;
    return Math.max(0, endsAbout - (end.startedAt ?? this.startBy(line)?.at ?? this.waitingAt));
  }

  sawWaiting(line: QueueLine, at: number): void {
    line.sawWaiting(this.rank, at, this.startBy(line)?.by === 'count');
    this.waitingAt = at;
    this.timesWaiting += 1;
    this.aliveAt = at;
  }

  sawWorking(line: QueueLine, at: number, startedAt: number | undefined): void {
    const believed = this.startBy(line);
    line.sawWorking(this.rank, at, startedAt);
    this.startedAt ??= startedAt ?? Math.min(at, believed?.at ?? (this.waitingAt + at) / 2);
    this.timesWaiting = 0;
    this.aliveAt = at;
  }
}
