import { MillraceError } from '../contract/millrace-error.js';

/** An input is not of its schema. Nothing was sent. Code `invalid-input`. */
export class InvalidInputError extends MillraceError {
  static override readonly name: string = 'InvalidInputError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('invalid-input', message, options);
  }
}
