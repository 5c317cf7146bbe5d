import type http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasUnreadBytes, maxIdleMsOf, takeFree } from './connection-reuse.js';
import { ReplyBytes } from './reply-bytes.js';

/** What an agent has to know about its requests. */
export interface Reuse {
  readonly now: () => number;
  readonly neverSent: (error: Error) => void;
  /** The request that is being made buys work. */
  paid: boolean;
}

interface Kept {
  readonly bytes: ReplyBytes;
  idleSince: number;
  maxIdleMs: number;
}

/** Node's types lack the method that its agent calls for each request. */
type AddingAgent = http.Agent & { addRequest(request: http.ClientRequest, ...rest: unknown[]): void };

/**
 * Makes an agent rest its connections, hide those that rest, and close those on which bytes arrive that no request asked
 * for.
 */
export function reuseWithCare(agent: http.Agent, reuse: Reuse): void {
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
  adding.addRequest = (request, ...rest) => {
    const hidden = hideResting(agent, known, reuse);
    request.once('socket', (socket) => {
      let entry = known.get(socket);
      if (entry === undefined) {
        entry = { bytes: new ReplyBytes(socket, reuse.neverSent), idleSince: 0, maxIdleMs: 0 };
        known.set(socket, entry);
      }
      entry.bytes.begin(request);
    });
    try {
      add(request, ...rest);
    } finally {
      Object.assign(agent.freeSockets, hidden);
    }
  };
}

/** Hides each list of free connections that has none that may be used now; puts the usable one first in the others. */
function hideResting(
  agent: http.Agent,
  known: WeakMap<Duplex, Kept>,
  { now, paid }: Reuse,
): http.Agent['freeSockets'] {
  const free = agent.freeSockets as Record<string, Socket[]>;
  const hidden: Record<string, Socket[]> = {};
  for (const name in free) {
    const sockets = free[name] ?? [];
    const at = (socket: Socket) => {
      const { idleSince = 0, maxIdleMs = 0 } = known.get(socket) ?? {};
      return { idleSince, maxIdleMs, isClosed: socket.destroyed, close: () => socket.destroy() };
    };
    const next = () => takeFree(sockets, { at, now: now(), paid });
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
