import { MillraceError } from '../../../src/contract/millrace-error.js';

/** The command cannot start as it was given: exit 2, nothing was sent. Each line of `problems` stands by itself. */
export class UsageError extends MillraceError {
  static override readonly name: string = 'UsageError';

  constructor(
    readonly problems: readonly string[],
    /** What to do now, when it is not plain from the problems. */
    readonly hint?: string,
  ) {
    super('usage', problems.join('\n'));
  }
}
