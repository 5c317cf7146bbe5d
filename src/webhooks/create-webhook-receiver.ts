import {
  catchError,
  defer,
  EMPTY,
  firstValueFrom,
  from,
  of,
  Subject,
  timeout,
  type Observable,
  type ObservableInput,
  type SchedulerLike,
} from 'rxjs';
import { checkFunction, checkNames, checkText } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { checkHttpUrl } from '../contract/request-parts.js';
import { reportUnhandled } from '../policy/guard-hooks.js';
import type { CallbackResult, JobWebhook, JobWebhooks } from '../policy/job-webhook.js';
import { lateClock } from '../policy/client-clock.js';
import {
  fetchHandler,
  nodeHandler,
  readText,
  type CallAnswer,
  type NodeAnswer,
  type NodeCall,
  type ReceivedCall,
} from './answer-calls.js';
import { CallbackTokens, tokenIn, type Hmac } from './callback-tokens.js';
import { CalledJobs, type OrphanCallback, type WebhookCall } from './called-jobs.js';

/** Options of `createWebhookReceiver`. */
export interface WebhookReceiverOptions {
  /** Signs the address of each job: at least 32 random characters, kept secret. */
  secret: string;
  /** The http or https URL at which the service reaches the receiver. Each job's address is one segment below it. */
  url: string;
  /**
   * The name of the run: only callbacks to addresses of this run are accepted. @defaultValue a random one, so that callbacks of
   * an earlier process are refused
   */
  run?: string | undefined;
  /** HMAC-SHA-256 of a text, in base64url. @defaultValue with WebCrypto */
  hmac?: Hmac | undefined;
  /** The clock. @defaultValue that of the first client */
  scheduler?: SchedulerLike | undefined;
  /**
   * Called with a genuine callback about a job that is not in progress here. Its result decides the HTTP status of the answer.
   * @defaultValue the answer is 503
   */
  orphan?: ((callback: OrphanCallback) => ObservableInput<CallbackResult>) | undefined;
}

/** Receives callbacks of the service. It opens no port: pass one of its handlers to a server. */
export interface WebhookReceiver extends JobWebhooks {
  /** A handler for servers with the `fetch` API. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** A handler for `node:http`. */
  readonly node: (request: NodeCall, response: NodeAnswer) => void;
  /** Emits every call with the status of its answer, just before the answer is written; and every `double`, with status 0. */
  readonly calls$: Observable<WebhookCall>;
  /**
   * The callbacks of a job whose row has an id that stays the same in later processes.
   *
   * @param earlier number of POSTs of the row before this job; for `attach`, before the POST that created the job
   */
  row(row: string, earlier?: number): JobWebhook;
  /**
   * Handles a callback that another process received and checked, and that its `orphan` passed on. Resolves to `undefined` if
   * the job is not in progress here, or nothing became durable.
   */
  deliver(callback: OrphanCallback): Promise<CallbackResult | undefined>;
}

const maxBodyBytes = 1024 * 1024;
/** Time limit of a request body. */
const bodyMs = 10_000;
/** Time limit of an answer; then 503, so that the service tries again. */
const answerMs = 8_000;

/**
 * Creates a receiver for callbacks of the service. A callback of a completed job ends the job, once its POST is answered. Jobs
 * are still polled, in case a callback is lost. The receiver answers 200 once the news of a callback is durable: the outcome of
 * the job, or only its id if the job goes on. If nothing becomes durable within 8 s, it answers 503, so that the service tries
 * again.
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
    row: (row, earlier = 0) => receiver.jobs.webhook(row, row, earlier),
    deliver: (callback) => receiver.deliver(callback),
    poll: (schedule) => receiver.jobs.poll(schedule),
  };
}

class Receiver {
  readonly calls$ = new Subject<WebhookCall>();
  readonly jobs: CalledJobs;
  private readonly tokens: CallbackTokens;
  private readonly run: string;
  private readonly clock;
  private made = 0;

  constructor(private readonly options: WebhookReceiverOptions) {
    checkNames(options, 'createWebhookReceiver', ['secret', 'url', 'run', 'hmac', 'scheduler', 'orphan']);
    const { secret, url, hmac, run = crypto.randomUUID(), scheduler, orphan } = options;
    checkText('run', run);
    for (const [name, hook] of Object.entries({ hmac, orphan }))
      if (hook !== undefined) checkFunction(name, hook);
    this.tokens = new CallbackTokens(secret, hmac);
    this.run = run;
    this.clock = lateClock({ ...(scheduler !== undefined && { scheduler }) });
    const address = { run, url: checkReceiverUrl(url), tokens: this.tokens };
    this.jobs = new CalledJobs(address, this.clock, (call) => this.calls$.next(call));
  }

  job(key: string): JobWebhook {
    return this.jobs.webhook(key, `${key}#${++this.made}`, 0);
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
    const result = (await this.durable(() => this.jobs.give({ ...post, body }, orphan))) ?? 'late';
    const isTooLong = result === 'unreadable' && body === undefined;
    return { ...post, result, status: isTooLong ? 413 : statuses[result] };
  }

  async deliver(callback: OrphanCallback): Promise<CallbackResult | undefined> {
    if (callback.run !== this.run) return undefined;
    return this.durable(() => this.jobs.give(callback, () => EMPTY));
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
