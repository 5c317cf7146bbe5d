import type { Request, Response } from 'got';
import { faultOf } from './fault-of.js';
import type { GotFiles } from './got-files.js';
import { addressKind, isPrivateAddress, privateAddressError } from './private-address.js';
import type { TransportError } from './transport-error.js';

const maxRedirects = 3;

/** The way to a file, over redirects. */
export interface Trip {
  url: string;
  /** A host on the way was public: from then on no private address is gone to. */
  guarded: boolean;
  stream?: Request;
  head?: Response;
}

/** Where a trip has led: a response whose body is still to come. */
export interface Arrival {
  readonly stream: Request;
  readonly head: Response;
}

/**
 * Follows at most 3 redirects. Goes to no address that the service may not name, and from a public host to no other one.
 *
 * @param open Sends the request; called for each address on the way.
 */
export async function travel(
  trip: Trip,
  open: (url: URL) => Request,
  { isAllowed, isProxied }: Pick<GotFiles, 'isAllowed' | 'isProxied'>,
): Promise<Arrival> {
  for (let redirects = 0; ; redirects++) {
    const url = withoutCredentials(trip.url);
    // A name is held against its addresses when it is looked up, right before the connection.
    if (addressKind(url.hostname) !== undefined && !(await isAllowed(bareHost(url))))
      throw privateAddressError(url.hostname);
    const stream = open(url);
    trip.stream = stream;
    const head = await headOf(stream);
    trip.head = head;
    const target = targetOf(head, trip.url);
    if (!target) return { stream, head };
    stream.destroy();
    if (redirects === maxRedirects) throw faultHere(trip, `more than ${maxRedirects} redirects`);
    if (!/^https?:$/.test(target.protocol))
      throw faultHere(trip, `a redirect to ${target.protocol} is not followed`);
    const here = new URL(trip.url);
    trip.guarded ||= !isPrivateAddress(isProxied(here) ? here.hostname : (head.ip ?? ''));
    if (trip.guarded && isPrivateAddress(target.hostname)) throw privateAddressError(target.hostname);
    trip.url = target.href;
    delete trip.head;
  }
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
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

function faultHere({ url }: Trip, message: string): TransportError {
  return faultOf({ method: 'GET', url, headers: {} }, { message, neverConnected: false, responded: true });
}

/** got makes an Authorization header of credentials in a URL; none is ever sent to where a file lies. */
function withoutCredentials(url: string): URL {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
}
