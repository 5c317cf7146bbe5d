import { lookup as systemLookup } from 'node:dns';
import got from 'got';
import type { Got } from 'got';
import { version } from '../../contract/version.js';
import {
  type AgentOptions,
  createKeepAliveAgents,
  type KeepAliveAgents,
} from '../connections/keep-alive-agents.js';
import { createServicePlace, isPrivateAddress, onlyTo } from '../connections/private-address.js';

export interface GotFilesOptions extends AgentOptions {
  /**
   * Base URLs of the services that name the files: requests go to this machine or to a private network only where one
   * of these is there itself. @defaultValue none
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
