import http from 'node:http';
import https from 'node:https';
import got from 'got';
import type { Got, Request, Response } from 'got';
import { Observable } from 'rxjs';
import { acceptEncoding } from './decode-body.js';
import { faultOf, tooLarge } from './fault-of.js';
import { gotDelays } from './got-delays.js';
import { gotFault } from './got-fault.js';
import { createKeepAliveAgents } from './keep-alive-agents.js';
import type { AgentOptions, KeepAliveAgents } from './keep-alive-agents.js';
import { announcesMore, createReplyBody, defaultMaxReplyBytes, flatHeaders } from './reply-body.js';
import { TransportError } from './transport-error.js';
import type { Transport, WireReply, WireRequest } from './transport.js';

/** How connections are kept and trusted. */
export type GotTransportOptions = AgentOptions;

/**
 * The default transport, on got. One request is one exchange: nothing is retried and no redirect is followed. A reply
 * passes 64 MiB neither on the wire nor decompressed.
 */
export function createGotTransport(options: GotTransportOptions = {}): Transport {
  const agents = createKeepAliveAgents(options);
  const free = createInstance(agents, () => undefined);
  const paid = createInstance(agents, agents.dropIdle);
  return (request) =>
    new Observable((subscriber) => {
      const exchange = open(request.paid ? paid : free, request);
      let over = false;
      receive(exchange, request, agents, {
        reply(reply) {
          over = true;
          subscriber.next(reply);
          subscriber.complete();
        },
        fault(error) {
          over = true;
          subscriber.error(error);
        },
      });
      return () => {
        if (!over) exchange.destroy();
      };
    });
}

/** got's stream costs less CPU than its promise, and can be ended at the cap. */
function createInstance(agents: KeepAliveAgents, beforeRequest: () => void): Got {
  return got.extend({
    agent: { http: agents.http, https: agents.https },
    request(url, options, callback) {
      beforeRequest();
      return (url.protocol === 'https:' ? https : http).request(url, options, callback);
    },
    headers: { 'accept-encoding': acceptEncoding },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
}

function open(instance: Got, { url, method, headers, body, timeouts }: WireRequest): Request {
  const exchange = instance.stream(url, {
    method,
    headers,
    timeout: gotDelays(timeouts),
    ...(body !== undefined && { body }),
  });
  if (method === 'POST' && body === undefined) exchange.end();
  return exchange;
}

interface Receiver {
  reply(reply: WireReply): void;
  fault(error: TransportError): void;
}

/** Calls one of the receiver's two, once. */
function receive(exchange: Request, request: WireRequest, agents: KeepAliveAgents, to: Receiver): void {
  const maxBytes = request.maxReplyBytes ?? defaultMaxReplyBytes;
  const body = createReplyBody(maxBytes);
  let response: Response | undefined;
  let settled = false;

  function fail(error: unknown): void {
    if (settled) return;
    settled = true;
    exchange.destroy();
    to.fault(
      error instanceof TransportError
        ? error
        : faultOf(request, gotFault(error, agents, response !== undefined)),
    );
  }

  async function finish({ statusCode, headers }: Response): Promise<void> {
    const text = body.text(headers['content-encoding']);
    const reply = {
      status: statusCode,
      headers: flatHeaders(headers),
      body: typeof text === 'string' ? text : await text,
    };
    settled = true;
    to.reply(reply);
  }

  exchange.on('error', fail);
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
}
