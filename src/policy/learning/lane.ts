import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import { createQueueLine } from './queue-line.js';
import type { PollPlan } from './plan-polls.js';

/** A job that is being asked about. Times in ms since the epoch by the scheduler. */
export interface LaneJob {
  readonly variant: string;
  readonly submittedAt: number;
  /** Sends the poll. */
  readonly poll: () => void;
}

/** What a status reply says, as far as the schedule cares. */
export interface LaneReply {
  readonly at: number;
  readonly state: 'waiting' | 'working' | 'ended';
  /** Only where the service reports delayTime. */
  readonly startedAt?: number;
  /** Only where the service reports executionTime. */
  readonly endedAt?: number;
}

export interface Lane {
  add(job: LaneJob): LaneTicket;
  /** Ages at which jobs of this variant were last known to be at work: censored samples. */
  runningAges(variant: string): number[];
  /** The law has changed: all poll times are set anew. */
  rearm(): void;
  readonly width: number;
}

export interface LaneTicket {
  /** Returns how long an ended job is believed to have run, in ms; for a service that does not report it. */
  reply(reply: LaneReply): number;
  leave(): void;
}

interface Tracked extends LaneJob {
  readonly rank: number;
  /** It had not ended then. */
  aliveAt: number;
  /** It had not started then. */
  waitingAt: number;
  timesWaiting: number;
  startedAt: number | undefined;
  polling: boolean;
  timer: Subscription | undefined;
}

/** Asked again after a waiting answer: half a gap of starts at first, then later and later. */
const waitingBackoff = { gaps: 0.5, leastMs: 250, factor: 1.6, mostMs: 30_000 };
/** Nothing has moved for so long: the foremost waiting job is asked all the same. */
const stall = { leastMs: 1_000, mostMs: 120_000 };
/** A poll time may move by so little without being set anew. */
const toleranceMs = 5;

/**
 * The jobs in flight at one endpoint, in order of submission, and when each is asked next. A job that waits behind
 * others has no poll time of its own until those ahead have moved; only the foremost of them is asked when nothing
 * has moved for a while.
 */
export function createLane(
  planOf: (variant: string) => PollPlan,
  scheduler: SchedulerLike = asyncScheduler,
): Lane {
  const line = createQueueLine();
  const jobs = new Map<number, Tracked>();
  const blocked = createRankQueue();
  let stalled: Subscription | undefined;
  let stalls = 0;

  const startOf = (job: Tracked) => {
    if (job.startedAt !== undefined) return { at: job.startedAt, by: 'count' as const, gapMs: 0 };
    const believed = line.startOf(job.rank, job.submittedAt);
    return believed === undefined ? undefined : { ...believed, at: Math.max(believed.at, job.waitingAt) };
  };

  const dueOf = (job: Tracked) => {
    const start = startOf(job);
    if (start === undefined) return undefined;
    const wait = planOf(job.variant).nextAgeMs(Math.max(0, job.aliveAt - start.at));
    const due = start.at + (start.by === 'pace' ? wait / 2 : wait);
    if (job.timesWaiting === 0) return due;
    const { gaps, leastMs, factor, mostMs } = waitingBackoff;
    const pause = Math.max(leastMs, gaps * start.gapMs) * factor ** (job.timesWaiting - 1);
    const again = job.waitingAt + Math.min(mostMs, pause);
    return start.by === 'pace' ? again : Math.max(due, again);
  };

  const ask = (job: Tracked) => {
    job.timer?.unsubscribe();
    job.timer = undefined;
    job.polling = true;
    job.poll();
  };

  const arm = (job: Tracked) => {
    job.timer?.unsubscribe();
    job.timer = undefined;
    if (job.polling || !jobs.has(job.rank)) return;
    const due = dueOf(job);
    if (due === undefined) {
      blocked.add(job.rank);
      watchForStall();
      return;
    }
    job.timer = scheduler.schedule(
      () => {
        const again = dueOf(job);
        if (again === undefined || again > scheduler.now() + toleranceMs) arm(job);
        else ask(job);
      },
      Math.max(0, due - scheduler.now()),
    );
  };

  /** Those at the front of the waiting whose start is believed now get a poll time. */
  const release = () => {
    for (let rank = blocked.first(); rank !== undefined; rank = blocked.first()) {
      const job = jobs.get(rank);
      if (job !== undefined && startOf(job) === undefined) break;
      blocked.removeFirst();
      if (job !== undefined) arm(job);
    }
    watchForStall();
  };

  const watchForStall = () => {
    const head = jobs.get(blocked.first() ?? -1);
    if (stalled !== undefined || head === undefined) return;
    const patience = Math.max(stall.leastMs, 3 * planOf(head.variant).nextAgeMs(0));
    stalled = scheduler.schedule(
      () => {
        stalled = undefined;
        stalls += 1;
        const job = jobs.get(blocked.removeFirst() ?? -1);
        if (job !== undefined && !job.polling) ask(job);
        watchForStall();
      },
      Math.min(stall.mostMs, patience * 2 ** stalls),
    );
  };

  const moved = () => {
    stalls = 0;
    stalled?.unsubscribe();
    stalled = undefined;
    release();
  };

  const remove = (job: Tracked, end: { at: number; startedAt?: number; waited: boolean }) => {
    if (!jobs.delete(job.rank)) return;
    job.timer?.unsubscribe();
    line.ended(job.rank, end);
    moved();
  };

  const reply = (job: Tracked, { at, state, startedAt, endedAt }: LaneReply) => {
    job.polling = false;
    const believed = startOf(job);
    if (state === 'ended') {
      const waited = startedAt !== undefined && startedAt - job.submittedAt > 100;
      remove(job, {
        at: Math.min(endedAt ?? at, at),
        waited,
        ...(startedAt === undefined ? {} : { startedAt }),
      });
      const endsAbout = endedAt ?? (job.aliveAt + at) / 2;
      return Math.max(0, endsAbout - (startedAt ?? believed?.at ?? job.waitingAt));
    }
    if (state === 'waiting') {
      line.sawWaiting(job.rank, at, believed?.by === 'count');
      job.waitingAt = at;
      job.timesWaiting += 1;
    } else {
      line.sawWorking(job.rank, at, startedAt);
      job.startedAt ??= startedAt ?? Math.min(at, believed?.at ?? (job.waitingAt + at) / 2);
      job.timesWaiting = 0;
    }
    job.aliveAt = at;
    arm(job);
    if (state === 'working') moved();
    return 0;
  };

  return {
    add(given) {
      const job: Tracked = {
        ...given,
        rank: line.join(),
        aliveAt: given.submittedAt,
        waitingAt: given.submittedAt,
        timesWaiting: 0,
        startedAt: undefined,
        polling: false,
        timer: undefined,
      };
      jobs.set(job.rank, job);
      arm(job);
      return {
        reply: (value) => reply(job, value),
        leave: () => remove(job, { at: scheduler.now(), waited: false }),
      };
    },
    runningAges(variant) {
      const ages: number[] = [];
      for (const job of jobs.values()) {
        const start = job.variant === variant && job.timesWaiting === 0 ? startOf(job) : undefined;
        if (start?.by === 'count' && job.aliveAt > start.at) ages.push(job.aliveAt - start.at);
      }
      return ages;
    },
    rearm() {
      for (const job of jobs.values()) if (job.timer !== undefined) arm(job);
    },
    get width() {
      return line.width;
    },
  };
}

/** Ranks in rising order; they come and go at the ends nearly always. */
function createRankQueue() {
  let ranks: number[] = [];
  let gone = 0;
  return {
    add(rank: number) {
      let place = ranks.length;
      while (place > gone && (ranks[place - 1] ?? 0) > rank) place -= 1;
      if (place > gone && ranks[place - 1] === rank) return;
      ranks.splice(place, 0, rank);
    },
    first: () => ranks[gone],
    removeFirst() {
      const rank = ranks[gone];
      if (rank !== undefined) gone += 1;
      if (gone > 256 && gone * 2 > ranks.length) {
        ranks = ranks.slice(gone);
        gone = 0;
      }
      return rank;
    },
  };
}
