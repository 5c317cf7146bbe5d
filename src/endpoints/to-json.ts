import { InvalidInputError } from '../operators/invalid-input-error.js';

/** JSON text of what is sent. @throws InvalidInputError for what JSON cannot hold: a cycle, a BigInt, nothing at all */
export function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    throw new InvalidInputError(`cannot be written as JSON: ${String(error)}`, { cause: error });
  }
  throw new InvalidInputError('cannot be written as JSON: there is no value');
}
