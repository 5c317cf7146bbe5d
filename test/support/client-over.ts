import { of } from 'rxjs';
import type { ClientOptions } from '../../src/endpoints/client-state.js';
import { createClient } from '../../src/endpoints/create-client.js';
import type { WireReply, WireRequest } from '../../src/transport/transport.js';
import { replied } from './virtual-time.js';

/** A client whose transport answers at once, by the path, and what it sent. */
export function clientOver(answer: (path: string) => WireReply = finished, more: ClientOptions = {}) {
  const sent: WireRequest[] = [];
  const client = createClient({
    baseUrl: 'https://api.example.test/',
    apiKey: 'canary-key-0123',
    transport: (request) => {
      sent.push(request);
      return of(answer(new URL(request.url).pathname));
    },
    ...more,
  });
  return { client, sent };
}

export function finished(): WireReply {
  return replied(200, { id: 'j', status: 'COMPLETED', output: { text: 'hello' } });
}
