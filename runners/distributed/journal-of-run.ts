import { MillraceError } from '../../src/contract/millrace-error.js';
import type { Journal } from '../batch/journal/journal.js';
import { openCollector } from './collector/open-collector.js';
import type { DatabaseOfRun } from './collector/run-note.js';
import { connectDatabase } from './connect-database.js';
import { DatabaseError, explainDatabase } from './database/database-error.js';

/**
 * Opens the journal of a run whose rows may be on their way: they are asked back first, and the records of workers are copied. A
 * folder that has all of them needs no database: `undefined`.
 *
 * @throws {DatabaseError} `database-away`; nothing has been changed then
 */
export function journalOfRun(
  { note, choice }: DatabaseOfRun,
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): ((out: string) => Promise<Journal>) | undefined {
  if (!note.isOpen) return undefined;
  return async (out) => {
    const connect = () => connectDatabase(choice, { env, name: 'millrace settle', max: 3 });
    try {
      return (await openCollector(out, { warn }, connect)).journal;
    } catch (error) {
      if (error instanceof MillraceError && !(error instanceof DatabaseError)) throw error;
      const { code, message, cause } = explainDatabase(error, 'of the run');
      throw new DatabaseError(
        code,
        `${message} Nothing is settled: settle it again when the database is there.`,
        { cause },
      );
    }
  };
}
