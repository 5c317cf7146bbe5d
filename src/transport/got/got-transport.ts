import type http from 'node:http';
import type { Readable } from 'node:stream';
import got from 'got';
import type { Got, Request, Response } from 'got';
import { Observable, type Subscriber } from 'rxjs';
import { checkObject } from '../../contract/check-option.js';
import { EarlyReply, precedesRequest } from '../connections/reply-bytes.js';
import { faultOf, readClientError, stalled, tooLarge, TransportError } from '../transport-error.js';
import { acceptEncoding, announcesMore, emitLater, flatHeaders, ReplyBody } from '../reply-body.js';
import { ReplyWatch } from '../reply-watch.js';
import { gotDelays, gotFault } from './got-fault.js';
import {
  type AgentOptions,
  createKeepAliveAgents,
  type KeepAliveAgents,
  type ReusingOptions,
} from '../connections/keep-alive-agents.js';
import {
  defaultMaxReplyBytes,
  type PhaseTimeouts,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../transport.js';

/** How connections are kept and trusted. */
export type GotTransportOptions = AgentOptions;

/**
 * The default transport, over got. One request is one exchange: nothing is retried and no redirect is followed. A reply has at
 * most 64 MiB, on the wire and decompressed.
 */
export function createGotTransport(options: GotTransportOptions = {}): Transport {
  checkObject(options);
  const agents = createKeepAliveAgents(options);
  const instanceFor = createInstances(agents);
  const transport = (request: WireRequest) =>
    new Observable<WireReply>((to) => receive(open(instanceFor(request), request), request, agents, to));
  const close = () => [agents.http, agents.https].forEach((agent) => agent.destroy());
  return Object.assign(transport, { close });
}

/** One instance for requests with the same limits: got then merges and checks the options only once. */
function createInstances({ http, https }: KeepAliveAgents): (request: WireRequest) => Got {
  const common = got.extend({
    agent: { http, https },
    headers: { 'accept-encoding': acceptEncoding },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
  const instances = new WeakMap<PhaseTimeouts, Got>();
  return ({ timeouts }) => {
    const known = instances.get(timeouts);
    if (known) return known;
    const made = common.extend({ timeout: gotDelays(timeouts) });
    instances.set(timeouts, made);
    return made;
  };
}

/** got's stream costs less CPU than its promise, and can be stopped at the cap. */
function open(instance: Got, { url, method, headers, body, paid }: WireRequest): Request {
  const exchange = instance.stream(url, { method, headers, ...(body !== undefined && { body }) });
  const { options } = exchange;
  // got would collect some thirty options for Node, most of them not set, which takes a tenth of the CPU of a request.
  const value = (): ReusingOptions => {
    const isSecure = options.url instanceof URL && options.url.protocol === 'https:';
    const agent = isSecure ? options.agent.https : options.agent.http;
    return { agent, method: options.method, headers: options.headers, isPaid: paid };
  };
  Object.defineProperty(options, 'createNativeRequestOptions', { value });
  if (method === 'POST' && body === undefined) exchange.end();
  return exchange;
}

/** Emits the reply or errors, unless the returned function cancels the exchange first. */
function receive(
  exchange: Request,
  request: WireRequest,
  agents: KeepAliveAgents,
  to: Subscriber<WireReply>,
): () => void {
  const maxBytes = request.maxReplyBytes ?? defaultMaxReplyBytes;
  const body = new ReplyBody(maxBytes);
  let response: Response | undefined;
  let settled = false;

  function fail(error: unknown): void {
    if (settled) return;
    settled = true;
    exchange.destroy();
    report(error);
  }

  function report(error: unknown): void {
    const responded = response !== undefined;
    to.error(error instanceof TransportError ? error : faultOf(request, gotFault(error, agents, responded)));
  }

  /** Bytes right after a whole reply are an error of the connection; the reply itself still counts. */
  function keepWhole(error: unknown): void {
    if (settled || !response?.complete || !isParserError(error)) return;
    if (![exchange, response].every((stream) => takeRest(stream, body)))
      return fail(tooLarge(request, maxBytes));
    settled = true;
    finish(response).catch(report);
    exchange.destroy();
  }

  async function finish({ statusCode: status, headers }: Response): Promise<void> {
    const text = body.text(headers['content-encoding']);
    const reply = {
      status,
      headers: flatHeaders(headers),
      body: typeof text === 'string' ? text : await text,
    };
    settled = true;
    emitLater(to, reply);
  }

  exchange.on('error', fail);
  failIfStalled(exchange, request, fail);
  exchange.once('request', (sent: http.ClientRequest) => {
    refuseWrongHead(sent, fail);
    sent.prependListener('error', keepWhole);
  });
  exchange.once('response', (head: Response) => {
    response = head;
    if (announcesMore(head.headers, maxBytes)) fail(tooLarge(request, maxBytes));
  });
  exchange.on('data', (chunk: Buffer) => {
    if (!body.add(chunk)) fail(tooLarge(request, maxBytes));
  });
  exchange.once('end', () => {
    if (response && !settled) finish(response).catch(fail);
  });
  return () => {
    if (settled) return;
    settled = true;
    exchange.destroy();
  };
}

function failIfStalled(exchange: Request, request: WireRequest, fail: (error: unknown) => void): void {
  exchange.once('response', () => {
    const watch = new ReplyWatch(request.timeouts.idleMs, () => fail(stalled(request)));
    exchange.on('data', () => watch.came());
    exchange.once('end', () => watch.end());
    exchange.once('close', () => watch.end());
  });
}

/** Adds the bytes of the reply that a stream has read and not emitted yet; returns `false` if they are too many. */
function takeRest(stream: Readable, body: ReplyBody): boolean {
  stream.removeAllListeners('data');
  for (let rest = stream.read() as Buffer | null; rest !== null; rest = stream.read() as Buffer | null)
    if (!body.add(rest)) return false;
  return true;
}

/** Fails the exchange if the head of the reply comes too early, or switches the protocol. */
function refuseWrongHead(sent: http.ClientRequest, fail: (error: Error) => void): void {
  sent.once('response', ({ statusCode }) => {
    if (precedesRequest(statusCode, sent.socket)) fail(new EarlyReply());
  });
  // Without this, Node closes the connection and reports nothing until a time limit passes.
  sent.once('upgrade', (_head, socket) => {
    socket.destroy();
    fail(new Error('the reply switches to another protocol'));
  });
}

function isParserError(error: unknown): boolean {
  return readClientError(error).code?.startsWith('HPE_') === true;
}
