import type { Transport } from '../../../src/transport/transport.js';
import { UsageError } from '../io/usage-error.js';

/**
 * What requests go over; `undefined`: got, as the runner has it.
 * @throws {UsageError} where undici is asked for and is not installed
 */
export async function pickTransport(http: 'got' | 'undici'): Promise<Transport | undefined> {
  if (http === 'got') return undefined;
  try {
    const { createUndiciTransport } = await import('../../../src/transport/undici-transport.js');
    return createUndiciTransport();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(['--http undici needs a package that is not installed: npm i undici']);
  }
}
