import type { LookupFunction } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { openDeafPort } from '../../support/deaf-port.js';

/** As of a host with IPv4 and IPv6 in a network without IPv6. */
const addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const lookup: LookupFunction = (_name, { all }, callback) =>
  all === true ? callback(null, addresses) : callback(null, '127.0.0.1', 4);

describe.each([
  ['got', createGotTransport],
  ['undici', createUndiciTransport],
] as const)('a distant host with several addresses, over %s', (_name, create) => {
  // A busy machine may open the port too late for the second packet of the system.
  it(
    'is reached though connecting takes long, and the last address leads nowhere',
    { retry: 2 },
    async () => {
      // The system tries again after a second.
      await using host = await openDeafPort(500);
      const reply = await firstValueFrom(
        create({ lookup, env: {} })({
          method: 'POST',
          url: `http://distant.test:${host.port}/v2/e/run`,
          headers: {},
          body: '{}',
          paid: true,
          timeouts: phaseTimeouts(5_000),
        }),
      );
      expect(reply).toMatchObject({ status: 200, body: '{}' });
    },
  );
});
