import {
  Observable,
  type SchedulerAction,
  type SchedulerLike,
  type Subscriber,
  type Unsubscribable,
} from 'rxjs';
import { checkNames, checkNumber } from '../../contract/check-option.js';
import { InvalidOptionError } from '../../contract/millrace-error.js';
import type { JobReply } from '../../contract/service-replies.js';
import { clampTimer, lateClock, steadyClock, type Clock } from '../client-clock.js';
import { DueQueue, type Due } from '../due-queue.js';

/**
 * Decides when to poll a job's status. All jobs of a run share one schedule. It observes every status reply and gives each job
 * an Observable of poll times, so that the reply of one job can move the polls of another.
 */
export interface PollSchedule {
  /** One poll per emission. If it completes or fails before the job has ended, the job is polled every 5 s from then on. */
  pollTimes(job: PollJob): Observable<void>;
  /** Called with every status reply, including the final one. `at` in ms since the epoch. */
  observe(key: string, reply: JobReply, at: number): void;
  /** Called by each endpoint that uses the schedule. Optional: the built-in ones take the first clock unless they were given one. */
  useClock?(clock: Clock): void;
}

/** The job to be polled. */
export interface PollJob {
  /** It need not be unique: if several jobs have it, `jobId` and the id of a reply show which one is meant. */
  readonly key: string;
  readonly jobId?: string;
  /** In ms since the epoch, by the client's scheduler. */
  readonly submittedAt: number;
  /** Jobs of one endpoint wait for each other. @defaultValue '' */
  readonly endpoint?: string;
  /** Another property that decides how long a job runs, such as a resolution. @defaultValue '' */
  readonly variant?: string | undefined;
  /** Submitted by /runsync: the service keeps its result for a minute, not for half an hour. @defaultValue false */
  readonly sync?: boolean | undefined;
}

/** The longest wait between two polls. The service keeps a result for half an hour, after /runsync for a minute. */
export function longestWaitMs({ sync }: Pick<PollJob, 'sync'>): number {
  return sync === true ? 30_000 : 900_000;
}

/**
 * Polls every `ms` milliseconds after the submission; a job submitted longer ago is polled at once. Times during a poll that
 * takes longer than `ms` are skipped.
 */
export function pollFixed(ms: number, given?: SchedulerLike): PollSchedule {
  checkNumber('pollFixed(ms)', ms, 'number above 0');
  const clock = lateClock({ ...(given !== undefined && { scheduler: given }) });
  const { scheduler } = clock;
  function emit(this: SchedulerAction<Subscriber<void>>, times?: Subscriber<void>): void {
    times?.next();
    this.schedule(times, clampTimer(ms));
  }
  return {
    pollTimes: ({ submittedAt }) =>
      new Observable((times) =>
        scheduler.schedule(emit, clampTimer(submittedAt + ms - scheduler.now()), times),
      ),
    observe: () => undefined,
    useClock: (used) => clock.use(used),
  };
}

/** Durations in ms. */
export interface ExponentialOptions {
  /** From the submission to the first poll. @defaultValue 250 */
  initialMs?: number | undefined;
  /** Each wait is this many times the one before, at least 1. @defaultValue 1.5 */
  factor?: number | undefined;
  /** The longest wait. @defaultValue 5_000 */
  maxMs?: number | undefined;
}

/**
 * Polls soon at first and then ever more rarely. A wait starts when the last reply was observed, so a poll without a reply is
 * first repeated until it is answered. A job submitted long ago is polled at once.
 */
export function pollExponential(options: ExponentialOptions = {}, given?: SchedulerLike): PollSchedule {
  checkNames(options, 'pollExponential', ['initialMs', 'factor', 'maxMs']);
  const { initialMs = 250, factor = 1.5, maxMs = 5_000 } = options;
  checkNumber('pollExponential.initialMs', initialMs, 'number from 0 on');
  checkNumber('pollExponential.factor', factor, 'number from 1 on');
  checkNumber('pollExponential.maxMs', maxMs, 'number from 1 on');
  if (maxMs < initialMs)
    throw new InvalidOptionError(
      'pollExponential.maxMs',
      `is not a number from ${initialMs} on (got ${maxMs})`,
    );
  const clock = lateClock({ ...(given !== undefined && { scheduler: given }) });
  const { scheduler } = clock;
  const waits = new Map<string, readonly Wait[]>();
  const steady = steadyClock(scheduler);
  const dues = new DueQueue(steady);
  const wait = (mine: Wait, from: number) => {
    dues.set(mine, steady.now() + from + mine.waitMs - scheduler.now());
    mine.waitMs = Math.min(Math.max(mine.waitMs, 1) * factor, maxMs);
  };
  const leave = (mine: Wait) => {
    dues.remove(mine);
    const others = waits.get(mine.key)?.filter((other) => other !== mine) ?? [];
    if (others.length > 0) waits.set(mine.key, others);
    else waits.delete(mine.key);
  };
  return {
    pollTimes: ({ key, jobId, submittedAt }) =>
      new Observable((times) => {
        const mine = new Wait(times, key, jobId, initialMs, leave);
        // `[...waits, mine]` would have room for seventeen.
        waits.set(key, (waits.get(key) ?? []).concat(mine));
        wait(mine, submittedAt);
        return mine;
      }),
    observe: (key, { id }, at) =>
      waits.get(key)?.forEach((mine) => {
        if (mine.jobId === undefined || mine.jobId === id) wait(mine, at);
      }),
    useClock: (used) => clock.use(used),
  };
}

/** The wait of one job for its next poll. With a subject and a timer each, a waiting job would take 4.4 kB more. */
class Wait implements Due, Unsubscribable {
  dueAt = 0;
  place = -1;

  constructor(
    private readonly times: Subscriber<void>,
    readonly key: string,
    /** Tells it from other jobs of its key. */
    readonly jobId: string | undefined,
    public waitMs: number,
    private readonly leave: (wait: Wait) => void,
  ) {}

  due(): void {
    this.times.next();
  }

  unsubscribe(): void {
    this.leave(this);
  }
}
