import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import type { OpenCallbackPort } from '../context/callback-port.js';

/** Limits for callers; the service sends one short request per job. Durations in ms. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 5_000,
  maxRequestsPerSocket: 1_000,
  maxConnections: 1_000,
};

/** A server of `node:http`. @throws {MillraceError} `usage` if it cannot listen, such as when the port is in use */
export const openCallbackPort: OpenCallbackPort = async ({ host, port }) => {
  let handle = notReady;
  const server = Object.assign(
    createServer((request, response) => handle(request, response)),
    limits,
  );
  await listen(server, host, port);
  const { port: open } = server.address() as AddressInfo;
  return {
    url: `http://${addressOf(host, open)}`,
    pass: (given) => (handle = given),
    close: async () => {
      handle = notReady;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
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
      `callbacks cannot be received at ${addressOf(host, port)}: ${why}. Name another address with --webhook-listen; nothing was sent.`,
    );
  }
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Answers while the run is not open yet, or is closed. */
function notReady(_request: NodeCall, response: NodeAnswer): void {
  response.writeHead(503, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end('late\n');
}
