import type { Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import { faultOf, type FaultPhase, readClientError, tooLarge, TransportError } from '../transport-error.js';
import { acceptEncoding, announcesMore, emitLater, flatHeaders, ReplyBody } from '../reply-body.js';
import { hasUnreadBytes } from '../connections/connection-reuse.js';
import { EarlyReply, precedesRequest } from '../connections/reply-bytes.js';
import { ExchangeLimits } from './exchange-limits.js';
import { defaultMaxReplyBytes, type WireReply, type WireRequest } from '../transport.js';
import { type Connection, type Connections, ConnectTimeout } from './undici-connections.js';

/** The connections for a request. */
export interface Connector {
  readonly to: (origin: string) => Connections;
  readonly neverConnected: (error: unknown) => boolean;
}

/** One exchange: emits one reply or one error to its subscriber, or nothing once it is abandoned. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly maxBytes: number;
  private readonly body: ReplyBody;
  private readonly limits: ExchangeLimits;
  private head: { status: number; headers: Parameters<typeof flatHeaders>[0] } | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private connections: Connections | undefined;
  private connection: Connection | undefined;
  /** Whether unread bytes were on the connection before the request was written. */
  private isStray = false;
  private over = false;

  constructor(
    private readonly request: WireRequest,
    private readonly connector: Connector,
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
      this.connections = this.connector.to(origin);
      this.connection = this.connections.take(paid);
      this.connection.client.dispatch(dispatchOptions(this.request, path), this);
    } catch (error) {
      this.fail(error);
    }
  }

  abandon(): void {
    this.end('abandoned');
  }

  passed(phase: FaultPhase): void {
    this.fail(undefined, phase);
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    // If undici is about to send the request a second time, it is ended, because the first one may have been accepted.
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
    if (precedesRequest(status, this.connection?.socket)) return this.fail(new EarlyReply());
    this.head = { status, headers };
    this.limits.reading();
    if (announcesMore(headers, this.maxBytes)) this.fail(tooLarge(this.request, this.maxBytes));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.limits.came();
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
    // No part of the request has left, so it is sent over another connection.
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
    if (this.end()) emitLater(this.to, reply);
  }

  private fail(error: unknown, timedOut?: FaultPhase): void {
    const { request, connector, head } = this;
    if (this.end('ended'))
      this.to.error(faultFrom(error, { request, connector, timedOut, responded: head !== undefined }));
  }

  /** Returns false if it has ended before. @param why the request on the wire is aborted with this message */
  private end(why?: string): boolean {
    if (this.over) return false;
    const { controller } = this;
    this.over = true;
    this.limits.clear();
    // Both contain the whole head of the reply, and undici may keep a reference to this exchange for longer.
    this.controller = this.head = undefined;
    if (why !== undefined) {
      controller?.abort(new Error(why));
      this.connection?.close();
    }
    return true;
  }
}

function faultFrom(
  error: unknown,
  { request, connector, timedOut, responded }: FaultContext,
): TransportError {
  if (error instanceof TransportError) return error;
  return faultOf(request, {
    ...readClientError(error),
    timedOut: error instanceof ConnectTimeout ? error.phase : timedOut,
    neverConnected: connector.neverConnected(error),
    responded,
  });
}

interface FaultContext {
  readonly request: WireRequest;
  readonly connector: Connector;
  readonly timedOut: FaultPhase | undefined;
  readonly responded: boolean;
}

function dispatchOptions({ method, headers, body }: WireRequest, path: string): Dispatcher.DispatchOptions {
  return { path, method, headers: headerLines(headers), ...(body !== undefined && { body }) };
}

/** The origin and the path, as `URL` parses them. A plain URL is split without parsing, which is faster. */
function partsOf(url: string): { origin: string; path: string } {
  if (plainUrl.test(url)) {
    const pathAt = url.indexOf('/', 'https://'.length);
    return { origin: url.slice(0, pathAt), path: url.slice(pathAt) };
  }
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

/** A URL that parsing would not change: no credentials, no default port, no dots in the path, nothing to be encoded. */
const plainUrl = /^https?:\/\/[a-z\d][a-z\d.-]*(?::(?!80\/|443\/|0)\d+)?\/(?:[\w-]+\/)*[\w-]+$/;

const lines = new WeakMap<WireRequest['headers'], string[]>();

/** Names and values in turn, as undici expects them; created once for requests that share a frozen headers object. */
function headerLines(headers: WireRequest['headers']): string[] {
  const known = lines.get(headers);
  if (known !== undefined) return known;
  const made = ['accept-encoding', acceptEncoding, ...Object.entries(headers).flat()];
  if (Object.isFrozen(headers)) lines.set(headers, made);
  return made;
}
