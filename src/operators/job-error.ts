import type { FailureCode, Paid } from '../contract/failure-code.js';
import { MillraceError } from '../contract/millrace-error.js';
import type { Failed } from '../contract/outcome.js';

/** A failed outcome as an error, for those who want the output alone. `code` is one of the failure codes. */
export class JobError extends MillraceError {
  static override readonly name: string = 'JobError';
  declare readonly code: FailureCode;
  /** Whether it cost money. `maybe`: do not send it again unasked. */
  readonly paid: Paid;
  readonly jobId: string | undefined;
  /** Everything that is known of the failure. */
  readonly outcome: Failed;

  constructor(outcome: Failed) {
    super(outcome.code, outcome.message);
    this.paid = outcome.paid;
    this.jobId = outcome.jobId;
    this.outcome = outcome;
  }
}
