import { MillraceError } from '../../../src/contract/millrace-error.js';

/**
 * `database`: the address, the password, the schema or the installation will not do; somebody has to change it (exit 2).
 * `database-away`: it cannot be reached now (exit 69).
 */
export type DatabaseErrorCode = 'database' | 'database-away';

export class DatabaseError extends MillraceError {
  static override readonly name: string = 'DatabaseError';
  declare readonly code: DatabaseErrorCode;
}
