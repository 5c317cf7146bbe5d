/**
 * A transport over `fetch`, for browsers, Bun, Deno and workers.
 *
 * @module millrace/fetch
 */

export { createFetchTransport } from './transport/fetch/fetch-transport.js';
export type { FetchTransportOptions } from './transport/fetch/fetch-transport.js';
