import type { Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import { readClientError } from './client-error.js';
import { acceptEncoding } from './decode-body.js';
import { hasUnreadBytes } from './connection-reuse.js';
import { faultOf, tooLarge } from './fault-of.js';
import { ExchangeLimits } from './exchange-limits.js';
import { announcesMore, defaultMaxReplyBytes, flatHeaders, ReplyBody } from './reply-body.js';
import { TransportError } from './transport-error.js';
import type { FaultPhase } from './transport-error.js';
import type { WireReply, WireRequest } from './transport.js';
import type { Connection, Connections } from './undici-connections.js';
import { ConnectTimeout } from './undici-connect.js';

/** The connections that a request goes over. */
export interface Line {
  readonly to: (origin: string) => Connections;
  readonly neverConnected: (error: unknown) => boolean;
}

/** One exchange: tells the receiver of a reply or of a fault, once, or of nothing when it is abandoned. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly maxBytes: number;
  private readonly body: ReplyBody;
  private readonly limits: ExchangeLimits;
  private head: { status: number; headers: Parameters<typeof flatHeaders>[0] } | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private connections: Connections | undefined;
  private connection: Connection | undefined;
  /** Bytes lay on the connection before the request was written. */
  private isStray = false;
  private over = false;

  constructor(
    private readonly request: WireRequest,
    private readonly line: Line,
    private readonly to: Subscriber<WireReply>,
  ) {
    this.maxBytes = request.maxReplyBytes ?? defaultMaxReplyBytes;
    this.body = new ReplyBody(this.maxBytes);
    this.limits = new ExchangeLimits(request, this);
  }

  send(): void {
    try {
      const { paid, url } = this.request;
      const { origin, path } = partsOf(url);
      this.connections = this.line.to(origin);
      this.connection = this.connections.take(paid);
      this.connection.client.dispatch(dispatchOptions(this.request, path), this);
    } catch (error) {
      this.fail(error);
    }
  }

  abandon(): void {
    this.end('abandoned');
  }

  /** A limit has passed. */
  passed(phase: FaultPhase): void {
    this.fail(undefined, phase);
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    // A request that undici would send a second time is ended instead: the first may have been taken.
    if (this.over || this.controller) return started.abort(new Error('ended'));
    const { connection } = this;
    if (connection?.isUsed && hasUnreadBytes(connection.socket)) {
      this.isStray = true;
      return started.abort(new Error('bytes arrived before the request left'));
    }
    this.controller = started;
    this.limits.sending();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof flatHeaders>[0],
  ): void {
    if (status < 200) return;
    this.head = { status, headers };
    this.limits.reading();
    if (announcesMore(headers, this.maxBytes)) this.fail(tooLarge(this.request, this.maxBytes));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.body.add(chunk)) this.fail(tooLarge(this.request, this.maxBytes));
  }

  onResponseEnd(): void {
    if (this.head === undefined) return;
    const { status } = this.head;
    const headers = flatHeaders(this.head.headers);
    this.giveBack(headers['keep-alive']);
    const text = this.body.text(headers['content-encoding']);
    if (typeof text === 'string') this.replied({ status, headers, body: text });
    else
      text.then(
        (body) => this.replied({ status, headers, body }),
        (error: unknown) => this.fail(error),
      );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.isStray || this.over) return this.fail(error);
    // Nothing of the request has left: it goes over another connection.
    this.isStray = false;
    this.connection?.close();
    this.send();
  }

  private giveBack(keepAlive: string | undefined): void {
    const { connection } = this;
    this.connection = undefined;
    if (connection !== undefined) this.connections?.give(connection, keepAlive);
  }

  private replied(reply: WireReply): void {
    // When the replies at hand have all been read: what follows one of them, often the next request, does not get between.
    if (this.end()) setImmediate(tell, this.to, reply);
  }

  private fail(error: unknown, timedOut?: FaultPhase): void {
    const { request, line, head } = this;
    if (this.end('ended'))
      this.to.error(faultFrom(error, { request, line, timedOut, responded: head !== undefined }));
  }

  /** False when it has ended before. @param why what is on the wire is broken off */
  private end(why?: string): boolean {
    if (this.over) return false;
    const { controller } = this;
    this.over = true;
    this.limits.clear();
    // Both hold all that has been read of the reply's head, and undici may hold on to this for longer.
    this.controller = this.head = undefined;
    if (why !== undefined) {
      controller?.abort(new Error(why));
      this.connection?.close();
    }
    return true;
  }
}

function tell(to: Subscriber<WireReply>, reply: WireReply): void {
  to.next(reply);
  to.complete();
}

function faultFrom(error: unknown, { request, line, timedOut, responded }: FaultContext): TransportError {
  if (error instanceof TransportError) return error;
  return faultOf(request, {
    ...readClientError(error),
    timedOut: error instanceof ConnectTimeout ? error.phase : timedOut,
    neverConnected: line.neverConnected(error),
    responded,
  });
}

interface FaultContext {
  readonly request: WireRequest;
  readonly line: Line;
  readonly timedOut: FaultPhase | undefined;
  readonly responded: boolean;
}

function dispatchOptions({ method, headers, body }: WireRequest, path: string): Dispatcher.DispatchOptions {
  return { path, method, headers: headerLines(headers), ...(body !== undefined && { body }) };
}

/** `https://host:port` and what follows it, as a URL would be read; plain addresses are cut and not read. */
function partsOf(url: string): { origin: string; path: string } {
  if (plainUrl.test(url)) {
    const pathAt = url.indexOf('/', 'https://'.length);
    return { origin: url.slice(0, pathAt), path: url.slice(pathAt) };
  }
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

/** Nothing that reading would change: no credentials, no default port, no dots, nothing to be encoded. */
const plainUrl = /^https?:\/\/[a-z\d][a-z\d.-]*(?::(?!80\/|443\/|0)\d+)?\/(?:[\w-]+\/)*[\w-]+$/;

const lines = new WeakMap<WireRequest['headers'], string[]>();

/** Names and values in turn, which undici takes as they are; made once for requests that share their headers. */
function headerLines(headers: WireRequest['headers']): string[] {
  const known = lines.get(headers);
  if (known !== undefined) return known;
  const made = ['accept-encoding', acceptEncoding, ...Object.entries(headers).flat()];
  if (Object.isFrozen(headers)) lines.set(headers, made);
  return made;
}
