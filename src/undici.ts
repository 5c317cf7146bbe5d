export { createUndiciTransport } from './transport/undici-transport.js';
export type { UndiciTransportOptions } from './transport/undici-transport.js';
