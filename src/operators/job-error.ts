import type { FailureCode, Paid } from '../contract/failure-code.js';
import { MillraceError } from '../contract/millrace-error.js';
import type { Failed } from '../contract/outcome.js';

/** A failed outcome as an error, for a caller that asks only for the output. `code` is one of the failure codes. */
export class JobError extends MillraceError {
  static override readonly name: string = 'JobError';
  declare readonly code: FailureCode;
  /** Whether it cost money. `maybe`: do not send it again without asking a person. */
  readonly paid: Paid;
  readonly jobId: string | undefined;
  /** Everything that is known about the failure. */
  readonly outcome: Failed;

  constructor(outcome: Failed) {
    super(outcome.code, outcome.message);
    this.paid = outcome.paid;
    this.jobId = outcome.jobId;
    this.outcome = outcome;
  }
}

/** An input does not match its schema. Nothing was sent. Code `invalid-input`. */
export class InvalidInputError extends MillraceError {
  static override readonly name: string = 'InvalidInputError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('invalid-input', message, options);
  }
}

/**
 * A reply with chunks was lost on the way, and the job's output does not contain them: chunks may be missing between the
 * first `received` ones and those after them. The service returns each chunk only once. Code `chunk-gap`.
 */
export class ChunkGapError extends MillraceError {
  static override readonly name: string = 'ChunkGapError';

  constructor(
    readonly jobId: string,
    /** The number of chunks before the gap, which are complete. */
    readonly received: number,
  ) {
    super(
      'chunk-gap',
      `job ${jobId}: a reply with chunks was lost after the first ${received}, and the output does not hold them`,
    );
  }
}
