import { InvalidOptionError } from '../contract/millrace-error.js';
import { clientOn, type Client, type Platform } from './client-on.js';
import type { ClientOptions } from './client-state.js';

/** Options of a client of `millrace/core`, which has no transport of its own. */
export interface CoreClientOptions extends ClientOptions {
  transport: NonNullable<ClientOptions['transport']>;
}

const anywhere: Platform = {
  createTransport: () => {
    throw new InvalidOptionError(
      'transport',
      'is missing: millrace/core has none of its own, see millrace/fetch',
    );
  },
};

/**
 * A client that needs nothing of Node.js.
 *
 * @throws InvalidOptionError for a key or a base URL that cannot be used, and without a transport
 */
export function createCoreClient(options: CoreClientOptions): Client {
  return clientOn(options, anywhere);
}
