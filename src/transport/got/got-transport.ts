import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import got from 'got';
import type { Got, Options, Request, Response } from 'got';
import { Observable } from 'rxjs';
import { checkObject } from '../../contract/check-option.js';
import { EarlyReply, precedesRequest } from '../connections/reply-bytes.js';
import { faultOf, readClientError, tooLarge, TransportError } from '../transport-error.js';
import { acceptEncoding, announcesMore, flatHeaders, ReplyBody } from '../reply-body.js';
import { gotDelays, gotFault } from './got-fault.js';
import {
  type AgentOptions,
  createKeepAliveAgents,
  type KeepAliveAgents,
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
 * The default transport, on got. One request is one exchange: nothing is retried and no redirect is followed. A reply
 * passes 64 MiB neither on the wire nor decompressed.
 */
export function createGotTransport(options: GotTransportOptions = {}): Transport {
  checkObject(options);
  const agents = createKeepAliveAgents(options);
  const instanceFor = createInstances(agents);
  const transport = (request: WireRequest) =>
    new Observable<WireReply>((subscriber) => {
      const exchange = open(instanceFor(request), request);
      return receive(exchange, request, agents, {
        reply(reply) {
          subscriber.next(reply);
          subscriber.complete();
        },
        fault: (error) => subscriber.error(error),
      });
    });
  const close = () => [agents.http, agents.https].forEach((agent) => agent.destroy());
  return Object.assign(transport, { close });
}

/** Far more than a client has endpoints; a caller with different limits for every request must not fill the memory. */
const maxInstances = 64;

/** got merges and checks the options of an instance once, and not for every request. */
function createInstances(agents: KeepAliveAgents): (request: WireRequest) => Got {
  const free = createInstance(agents, (makeRequest) => makeRequest());
  const paid = createInstance(agents, agents.paying);
  const instances = new Map<string, Got>();
  return ({ paid: isPaid, timeouts }) => {
    const name = nameOf(isPaid, timeouts);
    const known = instances.get(name);
    if (known) return known;
    if (instances.size === maxInstances) instances.clear();
    const made = (isPaid ? paid : free).extend({ timeout: gotDelays(timeouts) });
    instances.set(name, made);
    return made;
  };
}

function nameOf(isPaid: boolean, limits: PhaseTimeouts): string {
  const { lookupMs, connectMs, secureConnectMs, sendMs, responseMs, readMs, requestMs } = limits;
  return `${isPaid} ${lookupMs} ${connectMs} ${secureConnectMs} ${sendMs} ${responseMs} ${readMs} ${requestMs}`;
}

function createInstance(agents: KeepAliveAgents, making: KeepAliveAgents['paying']): Got {
  return got.extend({
    agent: { http: agents.http, https: agents.https },
    request(url, options, callback) {
      return making(() => (url.protocol === 'https:' ? https : http).request(url, options, callback));
    },
    headers: { 'accept-encoding': acceptEncoding },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
}

/** got's stream costs less CPU than its promise, and can be stopped at the cap. */
function open(instance: Got, { url, method, headers, body }: WireRequest): Request {
  const exchange = instance.stream(url, { method, headers, ...(body !== undefined && { body }) });
  passFewOptions(exchange.options);
  if (method === 'POST' && body === undefined) exchange.end();
  return exchange;
}

/** got collects some thirty options for Node, nearly all of them not set: a tenth of the CPU of a request. */
function passFewOptions(options: Options): void {
  const value = () => {
    const { url, agent, method, headers } = options;
    const isSecure = url instanceof URL && url.protocol === 'https:';
    return { agent: isSecure ? agent.https : agent.http, method, headers };
  };
  Object.defineProperty(options, 'createNativeRequestOptions', { value });
}

interface Receiver {
  reply(reply: WireReply): void;
  fault(error: TransportError): void;
}

/** Calls `reply` or `fault` exactly once, unless the returned function cancels the exchange first. */
function receive(exchange: Request, request: WireRequest, agents: KeepAliveAgents, to: Receiver): () => void {
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
    to.fault(error instanceof TransportError ? error : faultOf(request, gotFault(error, agents, responded)));
  }

  /** Bytes right behind a whole reply are an error of the connection; the reply itself still counts. */
  function keepWhole(error: unknown): void {
    if (settled || !response?.complete || !isParserError(error)) return;
    if (![exchange, response].every((stream) => takeRest(stream, body)))
      return fail(tooLarge(request, maxBytes));
    settled = true;
    finish(response).catch(report);
    exchange.destroy();
  }

  async function finish({ statusCode, headers }: Response): Promise<void> {
    const text = body.text(headers['content-encoding']);
    const reply = {
      status: statusCode,
      headers: flatHeaders(headers),
      body: typeof text === 'string' ? text : await text,
    };
    settled = true;
    // Deferred until the replies at hand have all been read: what a subscriber does next, often a request, does not delay them.
    setImmediate(() => to.reply(reply));
  }

  exchange.on('error', fail);
  exchange.once('request', (sent: http.ClientRequest) => {
    sent.once('response', (head: http.IncomingMessage) => {
      if (precedesRequest(head.statusCode, sent.socket)) fail(new EarlyReply());
    });
    sent.prependListener('error', keepWhole);
    refuseUpgrade(sent, fail);
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

/** Adds the bytes of the reply that a stream has read and not emitted yet; `false` when they are too many. */
function takeRest(stream: Readable, body: ReplyBody): boolean {
  stream.removeAllListeners('data');
  for (let rest = stream.read() as Buffer | null; rest !== null; rest = stream.read() as Buffer | null)
    if (!body.add(rest)) return false;
  return true;
}

/** Without this, Node closes the connection and reports nothing until a time limit passes. */
function refuseUpgrade(sent: http.ClientRequest, fail: (error: Error) => void): void {
  sent.once('upgrade', (_head, socket) => {
    socket.destroy();
    fail(new Error('the reply switches to another protocol'));
  });
}

function isParserError(error: unknown): boolean {
  return readClientError(error).code?.startsWith('HPE_') === true;
}
