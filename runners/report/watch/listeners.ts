import type { ServerResponse } from 'node:http';
import type { FlightUpdate, LiveUpdate } from '../page-data.js';

/** The pages that listen, by server-sent events. */
export class Listeners {
  readonly #open = new Set<ServerResponse>();

  get count(): number {
    return this.#open.size;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 2000\n\n');
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
  }

  send(update: LiveUpdate, to: Iterable<ServerResponse> = this.#open): void {
    write('update', update, to);
  }

  sendFlight(update: FlightUpdate): void {
    write('flight', update, this.#open);
  }

  close(): void {
    for (const response of this.#open) response.end();
  }
}

function write(event: string, update: LiveUpdate | FlightUpdate, to: Iterable<ServerResponse>): void {
  const text = `event: ${event}\ndata: ${JSON.stringify(update)}\n\n`;
  for (const response of to) response.write(text);
}
