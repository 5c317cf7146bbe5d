import { MillraceError } from '../../../src/contract/millrace-error.js';

/** An option of the emulator, or the functions module, that cannot be used: the message says which and why. Code `emulator-option`. */
export class EmulatorOptionError extends MillraceError {
  static override readonly name: string = 'EmulatorOptionError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('emulator-option', message, options);
  }
}
