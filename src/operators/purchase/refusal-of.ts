import type { Failed, CheckpointEvent } from '../../contract/outcome.js';

/** The mark that gives a reservation back. */
export function refusalOf({ message, httpStatus }: Failed): CheckpointEvent<never> {
  return { type: 'refused', why: message, ...(httpStatus !== undefined && { httpStatus }) };
}
