import type { Database } from './database.js';
import { sweep } from './sweep.js';

/** Once the database is back every worker that lives has said so within so many ms. */
const graceMs = 15_000;

/**
 * A sweep that is done every few seconds: while the database is away nobody can say that he is alive, so nobody is taken
 * for dead until it has been back for a while.
 */
export function createSweeper(database: Database, now: () => number): () => Promise<void> {
  let isBroken = false;
  let steadySince = -Infinity;
  return async () => {
    try {
      await database.pool.query('select 1');
      if (isBroken) steadySince = now();
      isBroken = false;
      if (now() - steadySince >= graceMs) await sweep(database);
    } catch (error) {
      isBroken = true;
      throw error;
    }
  };
}
