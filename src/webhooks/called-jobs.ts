import { switchMap, timer, type Observable, type ObservableInput } from 'rxjs';
import { jobIdIn } from '../contract/service-replies.js';
import type { Callback, CallbackResult, JobWebhook } from '../policy/job-webhook.js';
import type { LateClock } from '../policy/client-clock.js';
import { BackstopPolls, CallbackHealth } from './backstop-polls.js';
import type { CalledPost, CallbackTokens } from './callback-tokens.js';

/** A genuine callback about a job that is not running in this process. */
export interface OrphanCallback extends CalledPost {
  /** `undefined` if the body could not be read. */
  readonly body: string | undefined;
}

/** A call that was answered, without its address. */
export interface WebhookCall extends Partial<CalledPost> {
  /**
   * The result of the call. `forged`: not an address of this receiver. `late`: not durable in time; the service tries again.
   * `double`: reported in addition to a call or the answer to a POST, if one purchase has a second job id or the id of another
   * job: the service may have created two jobs, or mixed them up.
   */
  readonly result: CallbackResult | 'forged' | 'late' | 'double';
  /** The HTTP status of the answer; 0 for `double`. */
  readonly status: number;
  /** The second id of a `double`. */
  readonly jobId?: string;
}

/** At most this many ended jobs are remembered. */
const mostEnded = 10_000;
/**
 * How long a job whose POST had no answer waits for a callback, in ms: `hoped` before any callback has arrived, at least
 * `coming` while they arrive, and `missing` while they do not.
 */
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

/** The jobs that callbacks may be about, in progress or ended, and whether callbacks arrive. */
export class CalledJobs {
  private readonly health: CallbackHealth;
  private readonly backstops: BackstopPolls[] = [];
  private readonly listening = new Map<string, Listening>();
  /** Ended jobs by row: the last POST of each, and every job id known for it. */
  private readonly ended = new Map<string, EndedJob>();

  constructor(
    private readonly address: { readonly run: string; readonly url: string; readonly tokens: CallbackTokens },
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
      // A job that may have been accepted is not over, because a callback may prove that it was.
      ended: (outcome) => {
        const { jobId = '' } = outcome;
        if (outcome.status === 'completed' || outcome.paid !== 'maybe')
          this.remember(row, { key, attempt: last, ids: new Set([jobId]) });
      },
      giveUp$: this.giveUp(),
      contradicted: (jobId) => this.contradict({ run, row, attempt: last }, jobId),
    };
  }

  /** Handles a genuine callback; calls `orphan` if its job is not in progress here. */
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
      // The service knows an address only from its POST, so it accepted that POST.
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
