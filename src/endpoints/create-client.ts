import { AsyncResource } from 'node:async_hooks';
import { createGotTransport } from '../transport/got/got-transport.js';
import { channels } from './late-client.js';
import { clientOn, type Client, type Platform } from './client-on.js';
import type { ClientOptions } from './client-state.js';

/** The parts that a client has on Node.js and not in a browser. */
const node: Platform = {
  createTransport: () => createGotTransport(),
  channels,
  createScope: () => new AsyncResource('millrace-job', { requireManualDestroy: true }),
};

/**
 * A client on Node.js, over got unless another transport is passed in. Every `RequestReport` is published on the
 * `diagnostics_channel` `millrace:request`, and every `Activity` on `millrace:job`. A job emits, and calls its functions, in the
 * `AsyncLocalStorage` context of the call that created it.
 *
 * @example
 * ```ts
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * client.queue('echo').run({ text: 'hello' }).subscribe(console.log);
 * ```
 * @throws InvalidOptionError for an invalid key or base URL
 */
export function createClient(options: ClientOptions = {}): Client {
  return clientOn(options, node);
}
