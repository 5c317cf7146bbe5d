import { afterAll, afterEach, beforeAll } from 'vitest';
import { openFleet, type Fleet } from './fleet.js';
import { openRunDatabase, type RunDatabase } from './run-database.js';

type Options = Parameters<typeof openFleet>[2];

/** The fleets of a test file: one database for all of them, closed with the file; each fleet ends with its test. */
export function useFleets() {
  let database: RunDatabase;
  const open: Fleet[] = [];
  beforeAll(async () => {
    database = await openRunDatabase();
  });
  afterEach(async () => {
    for (const fleet of open.splice(0)) await fleet.close();
  });
  afterAll(() => database.close());
  return {
    get database(): RunDatabase {
      return database;
    },
    async open(rows: Parameters<typeof openFleet>[1], options?: Options): Promise<Fleet> {
      const fleet = await openFleet(database, rows, options);
      open.push(fleet);
      return fleet;
    },
  };
}
