import { readSync } from 'node:fs';
import { versions } from 'node:process';
import type { Duplex } from 'node:stream';

/**
 * After a reply a connection rests for this long, in ms, before it carries another request. A reply that is sent twice, or a
 * late error of a proxy, arrives in this time; it belongs to no request, and closes the connection.
 */
export const restMs = 100;

/** At most this many connections rest at a time; if there are more, the one that has rested longest is used early. */
const maxResting = 128;

/**
 * No paid request uses a connection that was idle for longer, in ms: if the server closed it at that moment, the outcome would
 * be unknown. On Deno none uses one that was used before: Deno's `node:http` would send the request again by itself if it breaks.
 */
const maxPaidIdleMs = 'deno' in versions ? -1 : 3_000;

/** A connection is not used in this time, in ms, before its server closes it. */
const marginMs = 1_000;

/**
 * How long one address of a host may take to connect before the next one is tried, in ms. Node's own 250 ms are too short for a
 * distant host: if its last address leads nowhere, as IPv6 does in a network without it, no connection would ever be made.
 */
export const addressMs = 2_000;

/** A connection between two requests. */
export interface FreeConnection {
  readonly isClosed: boolean;
  /** When its last reply ended, in ms. */
  readonly idleSince: number;
  /** How long it may be idle before a paid request, in ms. */
  readonly maxIdleMs: number;
  close(): void;
}

/**
 * Takes the free connection that has been idle longest, if it may carry a request now; closes those that may no longer carry
 * one. Returns `undefined` if the request needs a new connection. Right before it writes the request, the caller must check the
 * connection with `hasUnreadBytes`.
 */
export function takeFree<C>(
  free: C[],
  { at, now, paid }: { at: (entry: C) => FreeConnection; now: number; paid: boolean },
): C | undefined {
  for (let first = free[0]; first !== undefined; first = free[0]) {
    const connection = at(first);
    const idleMs = now - connection.idleSince;
    if (!connection.isClosed && idleMs < restMs && free.length < maxResting) return undefined;
    free.shift();
    if (connection.isClosed) continue;
    if (!paid || idleMs <= connection.maxIdleMs) return first;
    connection.close();
  }
  return undefined;
}

/** How long a connection may be idle before a paid request, in ms: 3 s, or less if the server closes it earlier. */
export function maxIdleMsOf(keepAlive: string | undefined): number {
  const seconds = /\btimeout *= *(\d+)/i.exec(keepAlive ?? '')?.[1];
  return seconds === undefined
    ? maxPaidIdleMs
    : Math.min(maxPaidIdleMs, Math.max(0, Number(seconds) * 1_000 - marginMs));
}

const oneByte = Buffer.alloc(1);

/**
 * Whether bytes (or the end) have arrived that Node has not read yet, because this process was busy. It removes the byte that
 * it finds, so the caller must then close the connection. False if the system gives no descriptor.
 */
export function hasUnreadBytes(socket: Duplex | undefined): boolean {
  const { _handle: handle } = (socket ?? {}) as { _handle?: { fd?: unknown } | null };
  const fd = handle?.fd;
  if (typeof fd !== 'number' || fd < 0) return false;
  const { stackTraceLimit } = Error;
  // If there is nothing to read, `readSync` throws, and a stack trace would take most of the time.
  Error.stackTraceLimit = 0;
  try {
    readSync(fd, oneByte, 0, 1, null);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export type ConnectionWatch = ReturnType<typeof createConnectionWatch>;

/** Remembers which errors ended a connection before it was ready, so that no byte of a request has left. */
export function createConnectionWatch() {
  const early = new WeakSet<object>();
  return {
    watch(socket: Duplex, secure: boolean): void {
      let isReady = false;
      const remember = (error: Error): void => {
        if (!isReady) early.add(error);
      };
      socket.once('error', remember);
      const writeAsBefore = onFailedWrite(socket, remember);
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        isReady = true;
        socket.off('error', remember);
        writeAsBefore();
      });
    },
    /** An error before there was a connection at all. */
    noteEarly: (error: unknown): void => {
      if (typeof error === 'object' && error !== null) early.add(error);
    },
    neverConnected: (error: unknown) => typeof error === 'object' && error !== null && early.has(error),
  };
}

/**
 * Calls `onError` when a write fails: a request that waits for TLS receives this before the socket emits an error, and from
 * Node.js 24 on closes the socket first. Returns a function that stops this.
 */
function onFailedWrite(socket: Duplex, onError: (error: Error) => void): () => void {
  const observed = (done: (error?: Error | null) => void) => (error?: Error | null) => {
    if (error) onError(error);
    done(error);
  };
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, observed(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, observed(done));
  return () => Object.assign(socket, { _write: write, ...(writev && { _writev: writev }) });
}
