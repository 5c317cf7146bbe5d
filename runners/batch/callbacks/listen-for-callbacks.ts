import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import type { CallbackListener, ListenForCallbacks } from '../context/called-back.js';
import { callbackSecret } from './callback-secret.js';
import { CalledRows } from './run-callbacks.js';

/** Beyond these a caller is cut off: the service sends one short request a job. Durations in ms. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 5_000,
  maxRequestsPerSocket: 1_000,
  maxConnections: 1_000,
};

/** Opens the port for the callbacks of a run, before anything is sent. */
export const listenForCallbacks: ListenForCallbacks = async ({ url, host, port }) => {
  let handle = notReady;
  const server = Object.assign(
    createServer((request, response) => handle(request, response)),
    limits,
  );
  await listen(server, host, port);
  const { port: open } = server.address() as AddressInfo;
  const own = `http://${addressOf(host, open)}`;
  const listener: CallbackListener = {
    async begin(parts) {
      const { disk, out } = parts.options;
      const rows = new CalledRows(await callbackSecret(disk, out), url ?? own, parts);
      handle = rows.receiver.node;
      return rows;
    },
    async close() {
      handle = notReady;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return listener;
};

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another program has the port' : message;
    throw new MillraceError(
      'usage',
      `callbacks cannot be taken at ${addressOf(host, port)}: ${why}. Name another address with --webhook-listen; nothing was sent.`,
    );
  }
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The run is not open yet, or not any more. */
function notReady(_request: NodeCall, response: NodeAnswer): void {
  response.writeHead(503, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end('late\n');
}
