import { MillraceError } from '../../../src/contract/millrace-error.js';

/** The ledger that runs share cannot be read or written: exit 74. Nothing may be bought under a cap that nobody can check. */
export class DayLedgerError extends MillraceError {
  static override readonly name: string = 'DayLedgerError';

  constructor(
    message: string,
    /** The system's code, where there is one. */
    readonly errno?: string,
    options?: { cause?: unknown },
  ) {
    super('day-ledger', message, options);
  }
}
