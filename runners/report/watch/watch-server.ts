import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Disk } from '../../batch/disk/disk.js';
import type { FlightUpdate, LiveUpdate } from '../page-data.js';
import { type PageParts, renderFigures, renderFlight, renderPage, renderSummary } from '../render-page.js';
import { embedJson } from '../messages/escape-html.js';
import { serveFile } from './serve-file.js';
import type { RunSnapshot } from './run-snapshot.js';
import type { FlightView } from './view-flight.js';

interface WatchServerOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly parts: PageParts;
}

/** How many snapshots are kept, because an open page may still request rows of an earlier one. */
const snapshotsKept = 4;

/** Serves the report's page on loopback from the latest snapshot, and notifies open pages of a newer one. */
export class WatchServer {
  readonly #options: WatchServerOptions;
  readonly #server: Server;
  /** The open pages, which listen for server-sent events. */
  readonly #listeners = new Set<ServerResponse>();
  #snapshots: readonly RunSnapshot[] = [];
  #flight: FlightView | undefined;

  constructor(options: WatchServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  /** @returns its address */
  listen(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${this.#port}/`));
    });
  }

  show(snapshot: RunSnapshot, flight: FlightView): void {
    this.#flight = flight;
    this.#snapshots = [snapshot, ...this.#snapshots].slice(0, snapshotsKept);
    if (this.#listeners.size > 0) send('update', this.#update(snapshot), this.#listeners);
  }

  /** Sends the rows in flight, but only if they have changed. */
  showFlight(flight: FlightView): void {
    if (isDeepStrictEqual(flight, this.#flight)) return;
    this.#flight = flight;
    send('flight', { flight: renderFlight(this.#options.parts, flight) }, this.#listeners);
  }

  close(): Promise<void> {
    for (const response of this.#listeners) response.end();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #update(snapshot: RunSnapshot): LiveUpdate {
    return {
      summary: renderSummary(this.#options.parts, snapshot.view, this.#flight),
      figures: renderFigures(this.#options.parts, snapshot.view),
      data: snapshot.data,
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    response.setHeader('referrer-policy', 'no-referrer');
    // Other host names are refused, because a foreign page could use a name that resolves to this machine.
    if (![`127.0.0.1:${this.#port}`, `localhost:${this.#port}`].includes(request.headers.host ?? ''))
      return end(response, 421);
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405);
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/') return this.#page(response);
    if (pathname === '/events') return this.#listen(response);
    const script = /^\/report\/page-(\d{1,6})\.js$/.exec(pathname);
    if (script !== null) return this.#script(response, Number(script[1]) - 1, search.slice(1));
    return this.#picture(pathname, response, request.headers.range);
  }

  #page(response: ServerResponse): void {
    const [snapshot] = this.#snapshots;
    const flight = this.#flight;
    if (snapshot === undefined || flight === undefined) return end(response, 503);
    const { top, bottom, policy } = renderPage(this.#options.parts, snapshot.view, { flight });
    const data = `<script type="application/json" id="page-data">${embedJson(snapshot.data)}</script>\n`;
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
    });
    response.end(top + data + bottom);
  }

  /** A page that reconnects has missed updates, so it gets the latest at once. */
  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 2000\n\n');
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
    const [snapshot] = this.#snapshots;
    if (snapshot !== undefined) send('update', this.#update(snapshot), [response]);
  }

  async #script(response: ServerResponse, file: number, version: string): Promise<void> {
    const snapshot = this.#snapshots.find((one) => one.version === version);
    if (snapshot === undefined) return end(response, 404);
    response.writeHead(200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(await snapshot.script(file));
  }

  async #picture(pathname: string, response: ServerResponse, range?: string): Promise<void> {
    const { disk, folder } = this.#options;
    const name = decoded(pathname);
    const reference = /^\/references\/([0-9a-f]{16})$/.exec(name)?.[1];
    const elsewhere = this.#snapshots.flatMap(({ references }) => references.get(reference ?? '') ?? [])[0];
    if (elsewhere !== undefined) return serveFile(disk, elsewhere, response, range);
    const inside = /^\/(images|thumbnails|files)\/([^/\\]+)$/.exec(name);
    if (inside === null || inside[2] === '..') return end(response, 404);
    return serveFile(disk, join(folder, inside[1] ?? '', inside[2] ?? ''), response, range);
  }
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return '';
  }
}

function send(event: string, update: LiveUpdate | FlightUpdate, to: Iterable<ServerResponse>): void {
  const text = `event: ${event}\ndata: ${JSON.stringify(update)}\n\n`;
  for (const response of to) response.write(text);
}
