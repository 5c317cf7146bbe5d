import { lookup as systemLookup } from 'node:dns';
import got, { type Request, type Response, type Got } from 'got';
import { faultOf, type TransportError } from '../transport-error.js';
import { bareHost } from '../connections/proxy-rules.js';
import {
  addressKind,
  isPrivateAddress,
  privateAddressError,
  createServicePlace,
  onlyTo,
} from '../connections/private-address.js';
import { version } from '../../contract/version.js';
import {
  type AgentOptions,
  createKeepAliveAgents,
  type KeepAliveAgents,
} from '../connections/keep-alive-agents.js';

const maxRedirects = 3;

/** The requests for a file, over redirects. */
export interface Trip {
  url: string;
  /** Whether a host so far was public: from then on private addresses are refused. */
  guarded: boolean;
  stream?: Request;
  head?: Response;
}

/**
 * Follows at most 3 redirects. Refuses addresses that the service may not name, and after a public host all private ones.
 *
 * @param open Sends the request; called for each address.
 */
export async function travel(
  trip: Trip,
  open: (url: URL) => Request,
  { isAllowed, isProxied }: Pick<GotFiles, 'isAllowed' | 'isProxied'>,
): Promise<{ readonly stream: Request; readonly head: Response }> {
  for (let redirects = 0; ; redirects++) {
    const url = withoutCredentials(trip.url);
    // Only a literal address is checked here. The addresses of a name are checked when it is looked up, right before the
    // connection.
    if (addressKind(url.hostname) !== undefined && !(await isAllowed(bareHost(url.hostname))))
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

/** Removes credentials, because got would send them as an Authorization header, which a file's host must never get. */
function withoutCredentials(url: string): URL {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
}

export interface GotFilesOptions extends AgentOptions {
  /**
   * Base URLs of the services that name the files: requests go to this machine or to a private network only if one of these is
   * there itself. @defaultValue none
   */
  services?: readonly string[] | undefined;
}

/** Requests for files that a service names: without the key, and only to addresses that the service may name. */
export interface GotFiles {
  /** Connects to public addresses, and to those that the service may name. */
  readonly nearService: Got;
  /** Connects only to public addresses. */
  readonly publicHosts: Got;
  /** Whether the service may name an address. */
  readonly isAllowed: (address: string) => Promise<boolean>;
  readonly connections: Pick<KeepAliveAgents, 'neverConnected'>;
  readonly isProxied: KeepAliveAgents['isProxied'];
}

export function createGotFiles({ services = [], ...options }: GotFilesOptions): GotFiles {
  const lookup = options.lookup ?? systemLookup;
  const { isProxied } = createKeepAliveAgents(options);
  const isAllowed = createServicePlace({ services, lookup, isProxied });
  const isPublic = (address: string): Promise<boolean> => Promise.resolve(!isPrivateAddress(address));
  const guarded = { ...options, resolveFirst: true };
  const nearService = createKeepAliveAgents({ ...guarded, lookup: onlyTo(isAllowed, lookup) });
  const publicHosts = createKeepAliveAgents({ ...guarded, lookup: onlyTo(isPublic, lookup) });
  return {
    nearService: createInstance(nearService),
    publicHosts: createInstance(publicHosts),
    isAllowed,
    isProxied,
    connections: {
      neverConnected: (error) => nearService.neverConnected(error) || publicHosts.neverConnected(error),
    },
  };
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
