import {
  catchError,
  defer,
  EMPTY,
  firstValueFrom,
  from,
  of,
  Subject,
  switchMap,
  timeout,
  timer,
  type Observable,
  type ObservableInput,
  type SchedulerLike,
} from 'rxjs';
import { checkFunction, checkNames, checkText } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { checkHttpUrl } from '../contract/request-parts.js';
import { reportUnhandled } from '../policy/guard-hooks.js';
import type { Callback, CallbackResult, JobWebhook, JobWebhooks } from '../policy/job-webhook.js';
import { lateClock } from '../policy/late-clock.js';
import {
  fetchHandler,
  nodeHandler,
  readText,
  type CallAnswer,
  type NodeAnswer,
  type NodeCall,
  type ReceivedCall,
} from './answer-calls.js';
import { BackstopPolls } from './backstop-polls.js';
import { CallbackHealth } from './callback-health.js';
import { CallbackTokens, tokenIn, type CalledPost, type Hmac } from './callback-tokens.js';

/** Options of `createWebhookReceiver`. */
export interface WebhookReceiverOptions {
  /** Signs the address of each job; at least 32 characters of chance, known to nobody else. */
  secret: string;
  /** Where the service reaches the receiver: an http or https URL. The address of a job is one segment below it. */
  url: string;
  /** Whose jobs they are: only callbacks to addresses of this run are taken. @defaultValue a new one, so that addresses of an earlier process are not */
  run?: string;
  /** HMAC-SHA-256 of a text in base64url. @defaultValue by WebCrypto */
  hmac?: Hmac;
  /** All time goes by it. @defaultValue that of the first client */
  scheduler?: SchedulerLike;
  /** A genuine callback about a job that is not under way here. The service is answered by what it gives, 503 where that is nothing. @defaultValue 503 */
  orphan?: (callback: OrphanCallback) => ObservableInput<CallbackResult>;
}

/** A genuine callback about a job that is not under way in this process. */
export interface OrphanCallback extends CalledPost {
  /** `undefined`: it could not be read. */
  readonly body: string | undefined;
}

/** A call that was answered. It holds no address. */
export interface WebhookCall extends Partial<CalledPost> {
  /**
   * What became of it; `forged`: no address of this receiver. `late`: not durable in time, the service tries again. `double`: no call, but
   * one POST that has a second id, so the service may have made two jobs of it.
   */
  readonly result: CallbackResult | 'forged' | 'late' | 'double';
  /** The HTTP status of the answer; 0 for `double`. */
  readonly status: number;
  /** The second id of a `double`. */
  readonly jobId?: string;
}

/** Takes callbacks of the service: it listens nowhere by itself, its handlers are given to a server. */
export interface WebhookReceiver extends JobWebhooks {
  /** For servers that speak `fetch`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http`. */
  readonly node: (request: NodeCall, response: NodeAnswer) => void;
  /** Every call, once it is answered. */
  readonly calls$: Observable<WebhookCall>;
  /**
   * The callbacks of a job whose row has a name that outlives the process.
   *
   * @param earlier POSTs of the row before this job; of a job that is attached to, before the one that made it
   */
  row(row: string, earlier?: number): JobWebhook;
  /**
   * Takes in a callback that came to another process and was checked there, where its `orphan` handed it on. Resolves to `undefined` where
   * its job is not under way here, or nothing became durable.
   */
  deliver(callback: OrphanCallback): Promise<CallbackResult | undefined>;
}

const maxBodyBytes = 1024 * 1024;
/** A body that takes longer is given up. */
const bodyMs = 10_000;
/** An answer that takes longer is 503: a service that gives up by itself would not know why. */
const answerMs = 8_000;
/** How many jobs that have ended are remembered. */
const mostEnded = 10_000;
/** How long a job whose POST had no answer waits: before any callback has come, while they come at least, and while they do not. */
const giveUpMs = { hoped: 600_000, coming: 60_000, turnarounds: 5, missing: 30_000 };

/**
 * Takes callbacks of the service: a job that completes ends at once, also before the answer to its POST has come, and polls stay as
 * the backstop. It answers 2xx only once what follows is durable, so that the service tries again otherwise.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { createServer } from 'node:http';
 * import { createWebhookReceiver } from 'millrace';
 *
 * const secret = randomBytes(32).toString('hex');
 * const webhooks = createWebhookReceiver({ secret, url: 'http://127.0.0.1:8790/millrace' });
 * const server = createServer(webhooks.node).listen(8790, '127.0.0.1');
 * const edits = client.imageEdit('image-edit', { webhooks });
 * show(await edits.run({ images, prompt: 'sepia' }).output());
 * server.close();
 * ```
 * @throws InvalidOptionError
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const receiver = new Receiver(options);
  const answer = (call: ReceivedCall) => receiver.answer(call);
  return {
    fetch: fetchHandler(answer),
    node: nodeHandler(answer),
    calls$: receiver.calls$.asObservable(),
    job: (key) => receiver.job(key),
    row: (row, earlier) => receiver.row(row, earlier),
    deliver: (callback) => receiver.deliver(callback),
    poll: (schedule) => receiver.poll(schedule),
  };
}

interface Listening {
  readonly key: string;
  readonly earlier: number;
  readonly take: (callback: Callback) => Observable<CallbackResult>;
}

class Receiver {
  readonly calls$ = new Subject<WebhookCall>();
  private readonly tokens: CallbackTokens;
  private readonly url: string;
  private readonly run: string;
  private readonly clock;
  private readonly health: CallbackHealth;
  private readonly backstops: BackstopPolls[] = [];
  private readonly listening = new Map<string, Listening>();
  /** Jobs that have ended, by their rows: the last POST of each. */
  private readonly ended = new Map<string, { readonly key: string; readonly attempt: number }>();
  private jobs = 0;

  constructor(private readonly options: WebhookReceiverOptions) {
    checkNames(options, 'createWebhookReceiver', ['secret', 'url', 'run', 'hmac', 'scheduler', 'orphan']);
    const { secret, url, hmac, run = crypto.randomUUID(), scheduler, orphan } = options;
    checkText('run', run);
    for (const [name, hook] of Object.entries({ hmac, orphan }))
      if (hook !== undefined) checkFunction(name, hook);
    this.tokens = new CallbackTokens(secret, hmac);
    this.url = checkReceiverUrl(url);
    this.run = run;
    this.clock = lateClock({ ...(scheduler !== undefined && { scheduler }) });
    this.health = new CallbackHealth(this.clock.scheduler);
  }

  poll(schedule: BackstopPolls['schedule']): BackstopPolls {
    const backstop = new BackstopPolls(schedule, this.health, this.clock);
    this.backstops.push(backstop);
    return backstop;
  }

  job(key: string): JobWebhook {
    return this.webhook(key, `${key}#${++this.jobs}`, 0);
  }

  row(row: string, earlier = 0): JobWebhook {
    return this.webhook(row, row, earlier);
  }

  private webhook(key: string, row: string, earlier: number): JobWebhook {
    const { tokens, url, run, listening } = this;
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
        if (outcome.status === 'completed' || outcome.paid !== 'maybe')
          this.remember(row, { key, attempt: last });
      },
      giveUp$: this.giveUp(),
      contradicted: (jobId) =>
        this.calls$.next({ run, row, attempt: last, result: 'double', status: 0, jobId }),
    };
  }

  async answer(call: ReceivedCall): Promise<CallAnswer> {
    const answered = await this.judge(call).catch((error: unknown): WebhookCall => {
      reportUnhandled(error);
      return { result: 'late', status: 503 };
    });
    this.calls$.next(answered);
    return { status: answered.status, text: `${answered.result}\n` };
  }

  private async judge(call: ReceivedCall): Promise<WebhookCall> {
    const post = await this.tokens.read(tokenIn(call.path));
    if (post?.run !== this.run) return { result: 'forged', status: 404 };
    if (call.method !== 'POST') return { ...post, result: 'unreadable', status: 405 };
    const body = await this.bodyOf(call);
    const orphan = () => this.options.orphan?.({ ...post, body }) ?? EMPTY;
    const result = (await this.durable(() => this.give({ ...post, body }, orphan))) ?? 'late';
    const isTooLong = result === 'unreadable' && body === undefined;
    return { ...post, result, status: isTooLong ? 413 : statuses[result] };
  }

  async deliver(callback: OrphanCallback): Promise<CallbackResult | undefined> {
    if (callback.run !== this.run) return undefined;
    return this.durable(() => this.give(callback, () => EMPTY));
  }

  private durable(take: () => ObservableInput<CallbackResult>): Promise<CallbackResult | undefined> {
    return firstValueFrom(
      defer(take).pipe(
        timeout({ first: answerMs, with: () => EMPTY, scheduler: this.clock.scheduler }),
        catchError((error: unknown) => {
          reportUnhandled(error);
          return EMPTY;
        }),
      ),
      { defaultValue: undefined },
    );
  }

  private bodyOf(call: ReceivedCall): Promise<string | undefined> {
    const read = from(readText(call, maxBodyBytes).catch(() => undefined));
    const { scheduler } = this.clock;
    return firstValueFrom(read.pipe(timeout({ first: bodyMs, with: () => of(undefined), scheduler })));
  }

  private give(
    { row, attempt, body }: OrphanCallback,
    orphan: () => ObservableInput<CallbackResult>,
  ): ObservableInput<CallbackResult> {
    const job = this.listening.get(row);
    if (job === undefined || attempt <= job.earlier) {
      const ended = this.ended.get(row);
      if (ended === undefined || ended.attempt < attempt) return orphan();
      this.health.cameAfterEnd(ended.key);
      return ['settled'];
    }
    const turnarounds = this.backstops.map((backstop) => backstop.calledBack(job.key));
    this.health.came(job.key, turnarounds.find((found) => found !== undefined) ?? 0);
    return job.take({ attempt: attempt - job.earlier, body });
  }

  private remember(row: string, job: { readonly key: string; readonly attempt: number }): void {
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

const statuses: Readonly<Record<CallbackResult | 'late', number>> = {
  settled: 200,
  noted: 200,
  unreadable: 400,
  foreign: 409,
  late: 503,
};

function checkReceiverUrl(url: string): string {
  const problem = checkHttpUrl(url) ?? problemOf(new URL(url));
  if (problem !== undefined) throw new InvalidOptionError('url', problem);
  return url.replace(/\/+$/, '');
}

function problemOf({ username, password, search, hash }: URL): string | undefined {
  if (username !== '' || password !== '') return 'carries a user name or password';
  return search !== '' || hash !== '' ? 'carries a query or a fragment' : undefined;
}
