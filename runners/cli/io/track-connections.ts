import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const channel = 'net.client.socket';

export interface Connections {
  /** Lets the process end while connections are open. */
  letGo(): void;
}

/**
 * Collects the connections that this process opens from now on. A run that stops at once leaves paid requests open, because
 * these are never cancelled; `letGo` keeps their connections from delaying the end of the process until their timeout.
 */
export function trackConnections(): Connections {
  const open = new Set<Socket>();
  const remember = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  subscribe(channel, remember);
  return {
    letGo() {
      unsubscribe(channel, remember);
      for (const socket of open) socket.unref();
    },
  };
}
