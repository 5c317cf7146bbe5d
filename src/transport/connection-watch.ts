import type { Duplex } from 'node:stream';

/** Remembers which errors ended a connection before it was ready: no byte of a request can have left then. */
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
      const remember = (error: Error): void => void early.add(error);
      socket.once('error', remember);
      socket.once(secure ? 'secureConnect' : 'connect', () => socket.off('error', remember));
    },
    noteEarly(error) {
      if (typeof error === 'object' && error !== null) early.add(error);
    },
    neverConnected: (error) => typeof error === 'object' && error !== null && early.has(error),
  };
}
