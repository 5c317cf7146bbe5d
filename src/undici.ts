/**
 * A second transport, over undici, which is an optional peer.
 *
 * @module millrace/undici
 */

export { createUndiciTransport } from './transport/undici/undici-transport.js';
export type { UndiciTransportOptions } from './transport/undici/undici-transport.js';
