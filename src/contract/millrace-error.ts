const brand = Symbol.for('millrace.error');

/** The base of every error that millrace throws or emits. Recognise it with `isMillraceError`, also across copies of the package. */
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

/** Whether it is an error of millrace, from whichever copy of the package. */
export function isMillraceError(value: unknown): value is MillraceError {
  return typeof value === 'object' && value !== null && brand in value;
}
