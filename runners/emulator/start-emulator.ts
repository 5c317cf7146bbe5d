import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { BillLine } from './bill.js';
import { billTexts, addBillCall } from './http/add-bill-call.js';
import { createService } from './create-service.js';
import type { EmulatorOptions } from './settings/emulator-options.js';
import { addPictureCalls, filesPath } from './http/add-picture-calls.js';
import { findLocalPicture } from '../pictures/find-local-picture.js';
import { createTempFolder } from './temp-folder.js';
import { type QueueHealth, addHealth } from './queue/endpoint-queue.js';
import { lbPath, addRouteCalls } from './http/add-route-calls.js';
import { Hono } from 'hono';
import { answeringPlainly } from './http/answering.js';
import { addQueueCalls } from './queue/add-queue-calls.js';
import { Refusal } from './http/http-answer.js';
import type { Call, Service } from './service.js';

/** A running service. */
export interface Emulator {
  /** {base_url} of the queue endpoints, without a trailing slash. */
  readonly baseUrl: string;
  /** {lb_base_url} of the load-balanced endpoint. */
  readonly lbBaseUrl: string;
  readonly apiKey: string;
  /** Everything that was accepted, with executions and costs. */
  bill(): BillLine[];
  /** The counters of one queue endpoint, or the sum of all. */
  health(endpoint?: string): QueueHealth;
  /** The address of a picture in the folder `files`, or what is wrong with it. */
  fileUrl(path: string): string | { problem: string };
  /** Stops all work, closes all connections, and removes the pictures. */
  close(): Promise<void>;
}

/**
 * Starts the service on a port of this machine.
 * @throws EmulatorOptionError for an invalid option; the system's error when it cannot listen
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const folder = createTempFolder();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { host = '127.0.0.1', files } = options;
  let origin = '';
  const service = await createService(options, { folder, closing: closing.signal, origin: () => origin });
  const server = createAdaptorServer({
    fetch: createApp(service).fetch,
    overrideGlobalObjects: false,
  }) as Server;
  origin = await listen(server, options.port ?? 0, host);
  return {
    baseUrl: origin,
    lbBaseUrl: `${origin}${lbPath}`,
    apiKey: service.apiKey,
    bill: () => Array.from(billTexts(service), (text) => JSON.parse(text) as BillLine),
    health(endpoint) {
      const queues = endpoint === undefined ? [...service.queues.values()] : [service.queues.get(endpoint)];
      return addHealth(queues.filter((queue) => queue !== undefined).map((queue) => queue.health()));
    },
    fileUrl(path) {
      const found = files === undefined ? { problem: 'no folder is served' } : findLocalPicture(files, path);
      return 'problem' in found ? found : localImageUrl(origin, path);
    },
    async close() {
      closing.abort(new Error('the emulator closes'));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      service.bill.dispose();
      folder.remove();
    },
  };
}

/** The address of a picture below the emulator's folder `files`, by its relative path. */
export function localImageUrl(baseUrl: string, path: string): string {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.');
  return `${baseUrl}${filesPath}/${segments.map(encodeURIComponent).join('/')}`;
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : port;
      const name =
        host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
      resolve(`http://${name}:${found}`);
    });
  });
}

/**
 * The server's routing: first the calls that need no key, then all others. Not exported: its type would bring the declarations
 * of hono, which need those of a browser, to everybody who imports `startEmulator`.
 */
function createApp(service: Service): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  addPictureCalls(app, service);
  app.use('*', (call: Call, next) =>
    call.env.incoming.headers.authorization === `Bearer ${service.apiKey}` ? next() : refuseKey(call),
  );
  addQueueCalls(app, service);
  addRouteCalls(app, service);
  addBillCall(app, service);
  app.notFound(refusePath);
  app.onError((error, call: Call) =>
    answeringPlainly(() => {
      throw error;
    })(call),
  );
  return app;
}

const refuseKey = answeringPlainly(() => {
  throw new Refusal(401, 'unauthorized', 'the API key is missing or invalid');
});

const refusePath = answeringPlainly((call) => {
  throw new Refusal(404, 'not found', `there is no ${call.req.method} ${call.req.path}`);
});
