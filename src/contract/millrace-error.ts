const brand = Symbol.for('millrace.error');

/** The base of every error that millrace throws or emits. `isMillraceError` recognises it even across copies of the package. */
export class MillraceError extends Error {
  static override readonly name: string = 'MillraceError';
  /** Stable; documented in the table of codes. */
  readonly code: string;
  readonly [brand] = true;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Whether a value is an error of millrace, from any copy of the package. */
export function isMillraceError(value: unknown): value is MillraceError {
  return typeof value === 'object' && value !== null && brand in value;
}

/** What was thrown, in words: the message of an error, anything else as text. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** An option, endpoint id, route or input is invalid. Nothing was sent. The message begins with the option's name. */
export class InvalidOptionError extends MillraceError {
  static override readonly name: string = 'InvalidOptionError';

  constructor(
    /** The name as in the call: `deadlineMs`, `retry.maxRetries`. */
    readonly option: string,
    problem: string,
    options?: { cause?: unknown },
  ) {
    super('invalid-option', `${option}: ${problem}`, options);
  }
}
