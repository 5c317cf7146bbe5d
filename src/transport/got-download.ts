import { lookup as systemLookup } from 'node:dns';
import got from 'got';
import type { Got, Request, Response } from 'got';
import { Observable } from 'rxjs';
import { version } from '../contract/version.js';
import type { Download, Downloaded, DownloadRequest } from './download.js';
import { faultOf, tooLarge } from './fault-of.js';
import { gotDelays } from './got-delays.js';
import { gotFault } from './got-fault.js';
import { createKeepAliveAgents } from './keep-alive-agents.js';
import type { AgentOptions, KeepAliveAgents } from './keep-alive-agents.js';
import { isPrivateAddress, privateAddressError, publicOnly } from './private-address.js';
import { announcesMore, flatHeaders } from './reply-body.js';
import { TransportError } from './transport-error.js';

const maxRedirects = 3;
const defaultMaxBytes = 256 * 1024 * 1024;

export type GotDownloadOptions = AgentOptions;

/**
 * The default download, on got. Follows at most 3 redirects, and none that leads from the public internet into a
 * private network; an address that the service itself names is fetched wherever it lies.
 */
export function createGotDownload(options: GotDownloadOptions = {}): Download {
  const anywhere = createKeepAliveAgents(options);
  const publicHosts = createKeepAliveAgents({
    ...options,
    lookup: publicOnly(options.lookup ?? systemLookup),
  });
  const gots = { anywhere: createInstance(anywhere), publicHosts: createInstance(publicHosts) };
  const connections = {
    neverConnected: (error: unknown) => anywhere.neverConnected(error) || publicHosts.neverConnected(error),
  };
  return (request, onChunk) =>
    new Observable((subscriber) => {
      const trip: Trip = { request, onChunk, url: request.url, guarded: false };
      const timeout = gotDelays(request.timeouts);
      travel(trip, (url) => (trip.guarded ? gots.publicHosts : gots.anywhere).stream(url, { timeout })).then(
        (downloaded) => {
          subscriber.next(downloaded);
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(errorFrom(error, trip, connections)),
      );
      return () => trip.stream?.destroy();
    });
}

function createInstance(agents: KeepAliveAgents): Got {
  return got.extend({
    agent: { http: agents.http, https: agents.https },
    headers: { 'accept-encoding': 'identity', 'user-agent': `millrace/${version}` },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
  });
}

/** The way to a file, over redirects. */
interface Trip {
  readonly request: DownloadRequest;
  readonly onChunk: Parameters<Download>[1];
  url: string;
  /** A host on the way was public: from then on no private address is gone to. */
  guarded: boolean;
  stream?: Request;
  head?: Response;
  /** What `onChunk` threw: it goes to the subscriber as it is. */
  thrown?: { error: unknown };
}

async function travel(trip: Trip, open: (url: URL) => Request): Promise<Downloaded> {
  for (let redirects = 0; ; redirects++) {
    trip.stream = open(withoutCredentials(trip.url));
    trip.head = await headOf(trip.stream);
    const target = targetOf(trip.head, trip.url);
    if (!target) return receive(trip, trip.stream, trip.head);
    trip.stream.destroy();
    if (redirects === maxRedirects) throw faultHere(trip, `more than ${maxRedirects} redirects`);
    if (!/^https?:$/.test(target.protocol))
      throw faultHere(trip, `a redirect to ${target.protocol} is not followed`);
    trip.guarded ||= !isPrivateAddress(trip.head.ip ?? '');
    if (trip.guarded && isPrivateAddress(target.hostname)) throw privateAddressError(target.hostname);
    trip.url = target.href;
    delete trip.head;
  }
}

function headOf(stream: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.on('error', reject);
  });
}

function targetOf({ statusCode, headers }: Response, from: string): URL | undefined {
  const { location } = headers;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  return new URL(location, from);
}

async function receive(trip: Trip, stream: Request, { statusCode, headers }: Response): Promise<Downloaded> {
  const { maxBytes = defaultMaxBytes } = trip.request;
  let bytes = 0;
  if (statusCode !== 200) {
    stream.destroy();
    return { status: statusCode, headers: flatHeaders(headers), bytes };
  }
  if (announcesMore(headers, maxBytes)) throw tooLarge(getting(trip), maxBytes);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(getting(trip), maxBytes);
    await handOn(trip, chunk);
  }
  return { status: statusCode, headers: flatHeaders(headers), bytes };
}

async function handOn(trip: Trip, chunk: Buffer): Promise<void> {
  try {
    await trip.onChunk(chunk);
  } catch (error) {
    trip.thrown = { error };
    throw error;
  }
}

function errorFrom(
  error: unknown,
  trip: Trip,
  connections: Pick<KeepAliveAgents, 'neverConnected'>,
): unknown {
  trip.stream?.destroy();
  if (trip.thrown) return trip.thrown.error;
  if (error instanceof TransportError) return error;
  return faultOf(getting(trip), gotFault(error, connections, trip.head !== undefined));
}

function faultHere(trip: Trip, message: string): TransportError {
  return faultOf(getting(trip), { message, neverConnected: false, responded: true });
}

function getting({ url }: Trip): { method: 'GET'; url: string; headers: Record<string, string> } {
  return { method: 'GET', url, headers: {} };
}

/** got makes an Authorization header of credentials in a URL; none is ever sent to where a file lies. */
function withoutCredentials(url: string): URL {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
}
