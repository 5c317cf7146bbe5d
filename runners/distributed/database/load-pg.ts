import type pg from 'pg';
import { DatabaseError } from './database-error.js';

/**
 * Loads the driver of PostgreSQL when a database is wanted.
 * @throws {DatabaseError} that says `npm i pg pg-boss`
 */
export async function loadPg(
  importPg: () => Promise<{ default: typeof pg }> = () => import('pg'),
): Promise<typeof pg> {
  try {
    return (await importPg()).default;
  } catch (cause) {
    throw new DatabaseError('database', '--db needs packages that are not installed: npm i pg pg-boss', {
      cause,
    });
  }
}
