import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { trackConnections } from '../../../../runners/cli/io/track-connections.js';

describe('trackConnections', () => {
  it('lets go of the connections that were opened meanwhile and are still open', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = async () => {
      const unheld: Socket[] = [];
      const socket = connect(port, '127.0.0.1');
      const unref = socket.unref.bind(socket);
      socket.unref = () => (unheld.push(socket), unref());
      await once(socket, 'connect');
      return { socket, unheld };
    };
    const before = await open();
    const connections = trackConnections();
    const [during, ended] = [await open(), await open()];
    ended.socket.destroy();
    await once(ended.socket, 'close');
    connections.letGo();
    const after = await open();
    connections.letGo();
    expect([before, during, ended, after].map(({ unheld }) => unheld.length > 0)).toEqual([
      false,
      true,
      false,
      false,
    ]);
    for (const { socket } of [before, during, after]) socket.destroy();
    server.close();
  });
});
