import type { Mark } from '../../contract/checkpoint.js';
import type { Failed } from '../../contract/outcome.js';

/** The mark that gives a reservation back. */
export function refusalOf({ message, httpStatus }: Failed): Mark<never> {
  return { type: 'refused', why: message, ...(httpStatus !== undefined && { httpStatus }) };
}
