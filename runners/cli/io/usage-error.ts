import { MillraceError } from '../../../src/contract/millrace-error.js';

/** The command cannot start with these options: exit 2, nothing was sent. Each problem is one line. */
export class UsageError extends MillraceError {
  static override readonly name: string = 'UsageError';

  constructor(
    readonly problems: readonly string[],
    /** What to do now, unless the problems already show it. */
    readonly hint?: string,
  ) {
    super('usage', problems.join('\n'));
  }
}
