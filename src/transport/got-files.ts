import { lookup as systemLookup } from 'node:dns';
import got from 'got';
import type { Got } from 'got';
import { version } from '../contract/version.js';
import { createKeepAliveAgents } from './keep-alive-agents.js';
import type { AgentOptions, KeepAliveAgents } from './keep-alive-agents.js';
import { publicOnly } from './private-address.js';

/** Requests for files that somebody else names: without the key, and with a guard for those that a redirect leads to. */
export interface GotFiles {
  readonly anywhere: Got;
  /** Refuses names that lead to a private address. */
  readonly publicHosts: Got;
  readonly connections: Pick<KeepAliveAgents, 'neverConnected'>;
  readonly isProxied: KeepAliveAgents['isProxied'];
}

export function createGotFiles(options: AgentOptions): GotFiles {
  const anywhere = createKeepAliveAgents(options);
  const publicHosts = createKeepAliveAgents({
    ...options,
    lookup: publicOnly(options.lookup ?? systemLookup),
    resolveFirst: true,
  });
  return {
    anywhere: createInstance(anywhere),
    publicHosts: createInstance(publicHosts),
    isProxied: anywhere.isProxied,
    connections: {
      neverConnected: (error) => anywhere.neverConnected(error) || publicHosts.neverConnected(error),
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
