import { switchMap, timer, type Observable, type ObservableInput } from 'rxjs';
import { jobIdIn } from '../contract/service-replies.js';
import type { Callback, CallbackResult, JobWebhook } from '../policy/job-webhook.js';
import type { LateClock } from '../policy/client-clock.js';
import { BackstopPolls, CallbackHealth } from './backstop-polls.js';
import type { CalledPost, CallbackTokens } from './callback-tokens.js';

/** A genuine callback about a job that is not under way in this process. */
export interface OrphanCallback extends CalledPost {
  /** `undefined`: it could not be read. */
  readonly body: string | undefined;
}

/** A call that was answered. It holds no address. */
export interface WebhookCall extends Partial<CalledPost> {
  /**
   * What became of it; `forged`: no address of this receiver. `late`: not durable in time, the service tries again. `double`: beside a
   * call or the answer to a POST, a second id of one purchase, or another job's: the service may have made two jobs of it, or has exchanged them.
   */
  readonly result: CallbackResult | 'forged' | 'late' | 'double';
  /** The HTTP status of the answer; 0 for `double`. */
  readonly status: number;
  /** The second id of a `double`. */
  readonly jobId?: string;
}

/** How many jobs that have ended are remembered. */
const mostEnded = 10_000;
/** How long a job whose POST had no answer waits: before any callback has come, while they come at least, and while they do not. */
const giveUpMs = { hoped: 600_000, coming: 60_000, turnarounds: 5, missing: 30_000 };

interface Listening {
  readonly key: string;
  readonly earlier: number;
  readonly take: (callback: Callback) => Observable<CallbackResult>;
}

interface EndedJob {
  readonly key: string;
  readonly attempt: number;
  readonly ids: Set<string>;
}

/** What names the jobs of a receiver to the service. */
interface ReceiverAddress {
  readonly run: string;
  readonly url: string;
  readonly tokens: CallbackTokens;
}

/** The jobs that callbacks may be about: which are under way, which have ended, and whether callbacks come. */
export class CalledJobs {
  private readonly health: CallbackHealth;
  private readonly backstops: BackstopPolls[] = [];
  private readonly listening = new Map<string, Listening>();
  /** Jobs that have ended, by their rows: the last POST of each, and every id that it is known to have. */
  private readonly ended = new Map<string, EndedJob>();

  constructor(
    private readonly address: ReceiverAddress,
    private readonly clock: LateClock,
    private readonly report: (call: WebhookCall) => void,
  ) {
    this.health = new CallbackHealth(clock.scheduler);
  }

  poll(schedule: BackstopPolls['schedule']): BackstopPolls {
    const backstop = new BackstopPolls(schedule, this.health, this.clock);
    this.backstops.push(backstop);
    return backstop;
  }

  webhook(key: string, row: string, earlier: number): JobWebhook {
    const { tokens, url, run } = this.address;
    const { listening } = this;
    let last = earlier + 1;
    return {
      address: (attempt) => {
        last = earlier + attempt;
        const token = tokens.of({ run, row, attempt: last });
        return typeof token === 'string' ? `${url}/${token}` : token.then((made) => `${url}/${made}`);
      },
      listen: (take) => {
        const mine: Listening = { key, earlier, take };
        listening.set(row, mine);
        return { unsubscribe: () => listening.get(row) === mine && listening.delete(row) };
      },
      // A job that may have been made is not over: a callback may prove it.
      ended: (outcome) => {
        const { jobId = '' } = outcome;
        if (outcome.status === 'completed' || outcome.paid !== 'maybe')
          this.remember(row, { key, attempt: last, ids: new Set([jobId]) });
      },
      giveUp$: this.giveUp(),
      contradicted: (jobId) => this.contradict({ run, row, attempt: last }, jobId),
    };
  }

  /** What becomes of a genuine callback; `orphan` is asked where its job is not under way. */
  give(
    { run, row, attempt, body }: OrphanCallback,
    orphan: () => ObservableInput<CallbackResult>,
  ): ObservableInput<CallbackResult> {
    const job = this.listening.get(row);
    if (job === undefined || attempt <= job.earlier) {
      const ended = this.ended.get(row);
      if (ended === undefined || ended.attempt < attempt) return orphan();
      this.health.cameAfterEnd(ended.key);
      const jobId = jobIdIn(body);
      // An address is known to the service by its POST alone: it works, or has worked, on what it says.
      if (jobId !== undefined && !ended.ids.has(jobId)) this.contradict({ run, row, attempt }, jobId);
      if (jobId !== undefined) ended.ids.add(jobId);
      return ['settled'];
    }
    const turnarounds = this.backstops.map((backstop) => backstop.calledBack(job.key));
    this.health.came(job.key, turnarounds.find((found) => found !== undefined) ?? 0);
    return job.take({ attempt: attempt - job.earlier, body });
  }

  private contradict(post: CalledPost, jobId: string): void {
    this.report({ ...post, result: 'double', status: 0, jobId });
  }

  private remember(row: string, job: EndedJob): void {
    this.ended.delete(row);
    this.ended.set(row, job);
    if (this.ended.size <= mostEnded) return;
    const [oldest] = this.ended.keys();
    if (oldest !== undefined) this.ended.delete(oldest);
  }

  private giveUp(): Observable<unknown> {
    const { health, clock } = this;
    return health.state$.pipe(
      switchMap((state) => {
        const slowest = state === 'coming' ? giveUpMs.turnarounds * health.slowestMs : 0;
        return timer(Math.max(giveUpMs[state], slowest), clock.scheduler);
      }),
    );
  }
}
