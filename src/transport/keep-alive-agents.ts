import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { env as processEnv } from 'node:process';
import type { Duplex } from 'node:stream';
import { createConnectionWatch } from './connection-watch.js';
import { destinationOf, proxyRules } from './proxy-rules.js';
import { throughProxy } from './through-proxy.js';

/** A server may close an idle connection at any moment; a request that meets this moment is reset, and then in doubt. */
const maxPaidIdleMs = 3_000;

export interface AgentOptions {
  /** Certificate authorities to trust, in PEM, in place of Node's own list. */
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
  /** Where proxies are named. @defaultValue process.env */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names are looked up here also where a proxy would do it. @defaultValue false */
  resolveFirst?: boolean | undefined;
  /** A clock in ms that never goes back. @defaultValue performance.now */
  now?: (() => number) | undefined;
}

export interface KeepAliveAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  /** Closes connections that have been idle for over 3 s: called right before a request that buys work. */
  readonly dropIdle: () => void;
  readonly neverConnected: (error: unknown) => boolean;
  /** Whether an address is reached through a proxy. */
  readonly isProxied: (url: URL) => boolean;
}

/** Connections that are kept and shared by all requests of one transport. Certificates are always verified. */
export function createKeepAliveAgents(options: AgentOptions = {}): KeepAliveAgents {
  const now = options.now ?? (() => performance.now());
  const connections = createConnectionWatch();
  const rules = proxyRules(options.env ?? processEnv);
  const idleSince = new WeakMap<Duplex, number>();
  const lookup = options.lookup && { lookup: options.lookup };
  const agents = {
    http: new http.Agent({ keepAlive: true, ...lookup }),
    https: new https.Agent({
      keepAlive: true,
      rejectUnauthorized: true,
      ...(options.ca && { ca: options.ca }),
      ...lookup,
    }),
  };
  for (const agent of [agents.http, agents.https]) {
    stampIdle(agent, (socket) => idleSince.set(socket, now()));
    const secure = agent === agents.https;
    onConnection(agent, (socket) => connections.watch(socket, secure));
    throughProxy(agent, {
      secure,
      rules,
      connections,
      lookup: options.resolveFirst === true ? options.lookup : undefined,
    });
  }
  return {
    ...agents,
    neverConnected: connections.neverConnected,
    isProxied: (url) => rules(destinationOf(url)) !== undefined,
    dropIdle() {
      const since = now() - maxPaidIdleMs;
      for (const agent of [agents.http, agents.https])
        for (const sockets of Object.values(agent.freeSockets))
          for (const socket of sockets ?? [])
            if ((idleSince.get(socket) ?? -Infinity) < since) socket.destroy();
    },
  };
}

function stampIdle(agent: http.Agent, stamp: (socket: Duplex) => void): void {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    stamp(socket);
    return keep(socket);
  };
}

function onConnection(agent: http.Agent, seen: (socket: Duplex) => void): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket) seen(socket);
    return socket;
  };
}
