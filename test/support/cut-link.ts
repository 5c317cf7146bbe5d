import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** A way to a server that can be cut, and mended. */
export interface CutLink extends AsyncDisposable {
  /** The server's address, with the port of this link. */
  readonly url: string;
  /** Ends all connections, and refuses new ones. */
  cut(): void;
  /** Nothing passes any more, but all connections stay. */
  hush(): void;
  mend(): void;
}

export async function openCutLink(to: string): Promise<CutLink> {
  const { hostname, port: behind } = new URL(to);
  const sockets = new Set<net.Socket>();
  let [isCut, isSilent] = [false, false];
  const keep = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    keep(near);
    if (isCut) return near.destroy();
    const far = keep(net.connect(Number(behind), hostname));
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => isSilent || into.write(bytes));
      from.on('close', () => isSilent || into.destroy());
      from.on('end', () => isSilent || into.end());
    }
    return undefined;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(to);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut() {
      isCut = true;
      endAll();
    },
    hush: () => void (isSilent = true),
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      endAll();
      server.close();
      await once(server, 'close');
    },
  };
}
