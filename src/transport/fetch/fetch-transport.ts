import { asyncScheduler, Observable, timer, type SchedulerLike, type Subscriber } from 'rxjs';
import { clampTimer } from '../../policy/client-clock.js';
import { faultOf, tooLarge } from '../transport-error.js';
import { ReplyWatch } from '../reply-watch.js';
import {
  defaultMaxReplyBytes,
  sendMsOf,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../transport.js';

/** Options of `createFetchTransport`. */
export interface FetchTransportOptions {
  /** The `fetch` function. @defaultValue the global one */
  fetch?: typeof fetch | undefined;
  /** The clock of its time limits. @defaultValue asyncScheduler */
  scheduler?: SchedulerLike | undefined;
}

/**
 * A transport over `fetch`, for browsers, Bun, Deno and workers at the edge. `fetch` does not show whether a failed request was sent, so
 * every such POST may have been accepted, and its job ends as `unknown`. (got and undici distinguish a refused connection from
 * a lost reply.) It does not show the phases of a request either, so their time limits apply as one sum, up to the head of the
 * reply.
 *
 * A browser may send a POST a second time by itself, if a reused connection breaks before the reply begins. Nothing shows
 * that and nothing prevents it, so a purchase may then be made twice. Node.js, Bun and Deno do not.
 *
 * In a browser anybody could read the key: omit `apiKey`, and let your own proxy add it.
 *
 * @example
 * ```ts
 * import { createFetchTransport } from 'millrace/fetch';
 *
 * createClient({ baseUrl: 'https://api.example.com', apiKey, transport: createFetchTransport() });
 * ```
 */
export function createFetchTransport(options: FetchTransportOptions = {}): Transport {
  const { scheduler = asyncScheduler } = options;
  const privacy = privacyHere();
  return (request) =>
    new Observable((subscriber) => {
      const exchange = new FetchExchange(request, subscriber, { privacy, scheduler });
      const { timeouts } = request;
      subscriber.add(() => exchange.abort());
      subscriber.add(
        timer(clampTimer(beforeReplyMs(request)), scheduler).subscribe(() => exchange.timeOut('response')),
      );
      subscriber.add(
        timer(clampTimer(timeouts.requestMs), scheduler).subscribe(() => exchange.timeOut('read')),
      );
      void exchange.send(options.fetch ?? fetch);
    });
}

function beforeReplyMs(request: WireRequest): number {
  const { lookupMs, connectMs, secureConnectMs, responseMs } = request.timeouts;
  return lookupMs + connectMs + secureConnectMs + sendMsOf(request) + responseMs;
}

class FetchExchange {
  readonly #controller = new AbortController();
  #hasHead = false;
  #timedOut: 'response' | 'read' | undefined;

  constructor(
    private readonly request: WireRequest,
    private readonly subscriber: Subscriber<WireReply>,
    private readonly parts: { readonly privacy: object; readonly scheduler: SchedulerLike },
  ) {}

  async send(fetching: typeof fetch): Promise<void> {
    const { request, subscriber } = this;
    try {
      const response = await fetching(request.url, this.#init());
      this.#hasHead = true;
      const body = await this.#read(response);
      if (body === undefined) return subscriber.error(tooLarge(request, maxBytesOf(request)));
      subscriber.next({ status: statusOf(response), headers: Object.fromEntries(response.headers), body });
      subscriber.complete();
    } catch (error) {
      this.#fail(error);
    }
  }

  abort(): void {
    this.#controller.abort();
  }

  timeOut(phase: 'response' | 'read'): void {
    if (phase === 'response' && this.#hasHead) return;
    this.#timedOut = phase;
    this.#fail(undefined);
    this.abort();
  }

  /** Never follows a redirect, so that the key goes to no other address. */
  #init(): RequestInit {
    const { method, headers } = this.request;
    const sent = Object.entries(headers).filter(([name]) => name !== 'User-Agent');
    return {
      method,
      headers: Object.fromEntries(sent),
      ...bodyOf(this.request),
      redirect: 'manual',
      ...this.parts.privacy,
      signal: this.#controller.signal,
    };
  }

  /** Returns `undefined` if the body is longer than its cap. */
  async #read({ body }: Response): Promise<string | undefined> {
    const decoder = new TextDecoder();
    const reader = body?.getReader();
    const watch = new ReplyWatch(
      this.request.timeouts.idleMs,
      () => this.timeOut('read'),
      this.parts.scheduler,
    );
    this.subscriber.add(() => watch.end());
    let [text, size] = ['', 0];
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      watch.came();
      const bytes = part.value as Uint8Array;
      size += bytes.byteLength;
      if (size > maxBytesOf(this.request)) {
        this.abort();
        return undefined;
      }
      text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : '';
    const fault = { message, neverConnected: false, responded: this.#hasHead, timedOut: this.#timedOut };
    this.subscriber.error(faultOf(this.request, fault));
  }
}

const privateMembers = { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' } as const;

/**
 * No cache, no cookies, no referrer. Only what requests of this platform have: the `fetch` of Cloudflare's workers throws at any
 * other member, and a POST that was never sent would end as `unknown`.
 */
function privacyHere(): object {
  if (typeof Request === 'undefined') return privateMembers;
  return Object.fromEntries(Object.entries(privateMembers).filter(([name]) => name in Request.prototype));
}

/**
 * The body of a purchase is a `Blob`, and an empty one if there is none: Deno sends any other body again by itself if a reused
 * connection breaks, even if the service has read the request.
 */
function bodyOf({ paid, body }: WireRequest): Pick<RequestInit, 'body'> {
  if (paid) return { body: new Blob(body === undefined ? [] : [body]) };
  return body === undefined ? {} : { body };
}

/** In a browser a redirect that is not followed has no status. */
function statusOf({ type, status }: Response): number {
  return type === 'opaqueredirect' ? 302 : status;
}

function maxBytesOf({ maxReplyBytes }: WireRequest): number {
  return maxReplyBytes ?? defaultMaxReplyBytes;
}
