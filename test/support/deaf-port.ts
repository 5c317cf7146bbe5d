import net from 'node:net';
import { Worker } from 'node:worker_threads';

/** Binds a port and then stops: what the kernel accepts for it is not taken up, and its queue fills. Answers `{}` later, if ever. */
const deafServer = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:http').createServer((_request, response) => response.end('{}'));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData);
  });
`;

export interface DeafPort extends AsyncDisposable {
  readonly port: number;
}

/** A port at which a connection is neither made nor refused, for `deafMs` or for ever: it hangs. */
export async function openDeafPort(deafMs = Infinity): Promise<DeafPort> {
  const worker = new Worker(deafServer, { eval: true, workerData: deafMs });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const fillers = Array.from({ length: 8 }, () =>
    net.connect(port, '127.0.0.1').on('error', () => undefined),
  );
  await firstConnections(fillers);
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of fillers) socket.destroy();
      await worker.terminate();
    },
  };
}

/** The queue takes two or three; when they are in, the next one waits. */
async function firstConnections(sockets: net.Socket[]): Promise<void> {
  await Promise.race(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
}
