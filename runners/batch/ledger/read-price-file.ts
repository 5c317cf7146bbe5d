import * as z from 'zod';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { priceFileSchema, toPriceList } from './price-list.js';
import type { PriceList } from './price-list.js';

/**
 * Reads the text of a price file.
 *
 * @throws {MillraceError} `price-file` with every problem and its place.
 */
export function readPriceFile(text: string, name: string): PriceList {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new MillraceError('price-file', `${name} is not JSON: ${(cause as Error).message}.`, { cause });
  }
  const checked = priceFileSchema.safeParse(parsed);
  if (!checked.success) throw new MillraceError('price-file', `${name}: ${z.prettifyError(checked.error)}`);
  return toPriceList(checked.data, name);
}
