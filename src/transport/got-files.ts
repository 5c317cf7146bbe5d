import { lookup as systemLookup } from 'node:dns';
import got from 'got';
import type { Got } from 'got';
import { version } from '../contract/version.js';
import { createKeepAliveAgents } from './keep-alive-agents.js';
import type { AgentOptions, KeepAliveAgents } from './keep-alive-agents.js';
import { isPrivateAddress, onlyTo } from './private-address.js';
import { createServicePlace } from './service-place.js';

export interface GotFilesOptions extends AgentOptions {
  /**
   * The base URLs of the services that name the files: addresses of this machine or of a private network are gone to
   * only where one of these is there itself. @defaultValue none
   */
  services?: readonly string[] | undefined;
}

/** Requests for files that a service names: without the key, and to no address that the service has no business with. */
export interface GotFiles {
  /** Goes to public addresses, and to those near the service. */
  readonly nearService: Got;
  /** Goes to public addresses alone. */
  readonly publicHosts: Got;
  /** Whether an address may be gone to at all. */
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
