import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { env as processEnv } from 'node:process';
import type { Duplex } from 'node:stream';
import { reuseWithCare, type Reuse } from './agent-reuse.js';
import { createConnectionWatch } from './connection-watch.js';
import { destinationOf, proxyRules } from './proxy-rules.js';
import { throughProxy } from './through-proxy.js';

export interface AgentOptions {
  /** Certificate authorities to trust, in PEM, in place of Node's own list. */
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
  /** Where proxies are named. @defaultValue process.env */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names are looked up here even when a proxy would look them up. @defaultValue false */
  resolveFirst?: boolean | undefined;
  /** A clock in ms that never goes back. @defaultValue performance.now */
  now?: (() => number) | undefined;
}

export interface KeepAliveAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  /** Makes a request that buys work: it uses no connection that has been idle for over 3 s. */
  readonly paying: <T>(makeRequest: () => T) => T;
  readonly neverConnected: (error: unknown) => boolean;
  /** Whether an address is reached through a proxy. */
  readonly isProxied: (url: URL) => boolean;
}

/** Connections that are kept and shared by all requests of one transport. Certificates are always verified. */
export function createKeepAliveAgents(options: AgentOptions = {}): KeepAliveAgents {
  const connections = createConnectionWatch();
  const rules = proxyRules(options.env ?? processEnv);
  const lookup = options.lookup && { lookup: options.lookup };
  const agents = {
    http: new http.Agent({ ...kept, ...lookup }),
    https: new https.Agent({
      ...kept,
      rejectUnauthorized: true,
      ...(options.ca && { ca: options.ca }),
      ...lookup,
    }),
  };
  const reuse: Reuse = {
    now: options.now ?? (() => performance.now()),
    neverSent: connections.noteEarly,
    paid: false,
  };
  for (const agent of [agents.http, agents.https]) {
    const secure = agent === agents.https;
    onConnection(agent, (socket) => connections.watch(socket, secure));
    throughProxy(agent, {
      secure,
      rules,
      connections,
      lookup: options.resolveFirst === true ? options.lookup : undefined,
    });
    reuseWithCare(agent, reuse);
  }
  return {
    ...agents,
    neverConnected: connections.neverConnected,
    isProxied: (url) => rules(destinationOf(url)) !== undefined,
    paying(makeRequest) {
      reuse.paid = true;
      try {
        return makeRequest();
      } finally {
        reuse.paid = false;
      }
    },
  };
}

/** The connection that has been idle longest is the first to be used again. */
const kept = { keepAlive: true, scheduling: 'fifo' } as const;

function onConnection(agent: http.Agent, seen: (socket: Duplex) => void): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket) seen(socket);
    return socket;
  };
}
