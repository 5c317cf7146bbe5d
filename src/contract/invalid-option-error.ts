import { MillraceError } from './millrace-error.js';

/** An option, endpoint id, route or input that cannot be used. Nothing was sent. The message begins with the option's name. */
export class InvalidOptionError extends MillraceError {
  static override readonly name: string = 'InvalidOptionError';

  constructor(
    /** The name as it stands in the call: `deadlineMs`, `retry.maxRetries`. */
    readonly option: string,
    problem: string,
    options?: { cause?: unknown },
  ) {
    super('invalid-option', `${option}: ${problem}`, options);
  }
}
