import type { Duplex } from 'node:stream';

/** Remembers which errors ended a connection before it was ready: then no byte of a request has left. */
export interface ConnectionWatch {
  readonly watch: (socket: Duplex, secure: boolean) => void;
  /** An error before there was a connection at all. */
  readonly noteEarly: (error: unknown) => void;
  readonly neverConnected: (error: unknown) => boolean;
}

export function createConnectionWatch(): ConnectionWatch {
  const early = new WeakSet<object>();
  return {
    watch(socket, secure) {
      let isReady = false;
      const remember = (error: Error): void => {
        if (!isReady) early.add(error);
      };
      socket.once('error', remember);
      onFailedWrite(socket, remember);
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        isReady = true;
        socket.off('error', remember);
      });
    },
    noteEarly(error) {
      if (typeof error === 'object' && error !== null) early.add(error);
    },
    neverConnected: (error) => typeof error === 'object' && error !== null && early.has(error),
  };
}

/**
 * A request that waits for TLS learns of its failed write before the socket emits an error; from Node.js 24 on it closes the
 * socket first.
 */
function onFailedWrite(socket: Duplex, onError: (error: Error) => void): void {
  const observed = (done: (error?: Error | null) => void) => (error?: Error | null) => {
    if (error) onError(error);
    done(error);
  };
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, observed(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, observed(done));
}
