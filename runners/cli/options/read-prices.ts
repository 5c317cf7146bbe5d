import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { createPriceBook, readPriceFile, toPriceList, type PriceBook } from '../../batch/formats.js';
import { type ConfiguredEndpoints, withEndpointPrices } from './configured-endpoints.js';
import { UsageError } from '../io/usage-error.js';

/** The prices of `--prices FILE` over those of the configuration, and these over the published ones. Throws `UsageError` when the file cannot be read or used. */
export async function readPrices(
  file: string | undefined,
  cwd: string,
  endpoints: ConfiguredEndpoints = {},
): Promise<PriceBook> {
  if (file === undefined) return createPriceBook(withEndpointPrices(toPriceList(), endpoints));
  const text = await readFile(resolve(cwd, file), 'utf8').catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new UsageError([`--prices: "${file}" cannot be read (${code})`]);
  });
  try {
    return createPriceBook(withEndpointPrices(readPriceFile(text, file), endpoints));
  } catch (error) {
    if (isMillraceError(error)) throw new UsageError([`--prices: ${error.message}`]);
    throw error;
  }
}
