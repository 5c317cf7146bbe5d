import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { env as processEnv } from 'node:process';
import type { Duplex } from 'node:stream';
import {
  addressMs,
  createConnectionWatch,
  hasUnreadBytes,
  maxIdleMsOf,
  takeFree,
} from './connection-reuse.js';
import { destinationOf, proxyRules } from './proxy-rules.js';
import { throughProxy } from './open-tunnel.js';
import { ReplyBytes } from './reply-bytes.js';

export interface AgentOptions {
  /** Certificate authorities to trust, in PEM, instead of Node's own list. */
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
  /** The environment that names proxies. @defaultValue process.env */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether names are looked up here even if a proxy would look them up. @defaultValue false */
  resolveFirst?: boolean | undefined;
  /** A clock in ms that never goes back. @defaultValue performance.now */
  now?: (() => number) | undefined;
}

export interface KeepAliveAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  readonly neverConnected: (error: unknown) => boolean;
  /** Whether an address is reached through a proxy. */
  readonly isProxied: (url: URL) => boolean;
}

/** The options of a request with these agents, in addition to Node's. */
export interface ReusingOptions extends http.RequestOptions {
  /** Whether it buys work, so that it uses no connection that has been idle for over 3 s. @defaultValue false */
  readonly isPaid?: boolean;
}

/** Creates agents whose connections are kept and shared by all requests of one transport. Certificates are always verified. */
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
  };
}

/** The connection that has been idle longest is the first to be used again. */
const kept = { keepAlive: true, scheduling: 'fifo', autoSelectFamilyAttemptTimeout: addressMs } as const;

function onConnection(agent: http.Agent, seen: (socket: Duplex) => void): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket) seen(socket);
    return socket;
  };
}

/** How an agent handles its connections. */
interface Reuse {
  readonly now: () => number;
  readonly neverSent: (error: Error) => void;
}

interface Kept {
  readonly bytes: ReplyBytes;
  idleSince: number;
  maxIdleMs: number;
}

/** Node's types lack the method that its agent calls for each request. */
type AddingAgent = http.Agent & {
  addRequest(request: http.ClientRequest, options: ReusingOptions, ...rest: unknown[]): void;
};

/** Makes an agent rest its connections, hide resting ones, and close connections on which unrequested bytes arrive. */
function reuseWithCare(agent: http.Agent, reuse: Reuse): void {
  const adding = agent as AddingAgent;
  const known = new WeakMap<Duplex, Kept>();
  const keep = agent.keepSocketAlive.bind(agent);
  const add = adding.addRequest.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const entry = known.get(socket);
    if (entry === undefined) return false;
    entry.idleSince = reuse.now();
    entry.maxIdleMs = maxIdleMsOf(keepAliveOf(socket));
    return entry.bytes.end() && keep(socket);
  };
  adding.addRequest = (request, options, ...rest) => {
    const hidden = hideResting(agent, known, { now: reuse.now(), paid: options.isPaid === true });
    request.once('socket', (socket) => {
      let entry = known.get(socket);
      if (entry === undefined) {
        entry = { bytes: new ReplyBytes(socket, reuse.neverSent), idleSince: 0, maxIdleMs: 0 };
        known.set(socket, entry);
      }
      entry.bytes.begin(request);
    });
    try {
      add(request, options, ...rest);
    } finally {
      Object.assign(agent.freeSockets, hidden);
    }
  };
}

/** Hides each list of free connections without a usable one; puts the usable one first in the others. */
function hideResting(
  agent: http.Agent,
  known: WeakMap<Duplex, Kept>,
  when: { readonly now: number; readonly paid: boolean },
): http.Agent['freeSockets'] {
  const free = agent.freeSockets as Record<string, Socket[]>;
  const hidden: Record<string, Socket[]> = {};
  for (const name in free) {
    const sockets = free[name] ?? [];
    const at = (socket: Socket) => {
      const { idleSince = 0, maxIdleMs = 0 } = known.get(socket) ?? {};
      return { idleSince, maxIdleMs, isClosed: socket.destroyed, close: () => socket.destroy() };
    };
    const next = () => takeFree(sockets, { at, ...when });
    let first = next();
    for (; first !== undefined && hasUnreadBytes(first); first = next()) first.destroy();
    if (first !== undefined) sockets.unshift(first);
    else {
      if (sockets.length > 0) hidden[name] = sockets;
      Reflect.deleteProperty(free, name);
    }
  }
  return hidden;
}

function keepAliveOf(socket: Duplex): string | undefined {
  const { _httpMessage: request } = socket as { _httpMessage?: { res?: http.IncomingMessage } | null };
  const header = request?.res?.headers['keep-alive'];
  return typeof header === 'string' ? header : undefined;
}
