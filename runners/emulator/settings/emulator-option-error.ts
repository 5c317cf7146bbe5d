import { MillraceError } from '../../../src/contract/millrace-error.js';

/** An invalid option of the emulator, or an invalid functions module; the message says which, and why. Code `emulator-option`. */
export class EmulatorOptionError extends MillraceError {
  static override readonly name: string = 'EmulatorOptionError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('emulator-option', message, options);
  }
}
