import { asyncScheduler, firstValueFrom, map, race, timer, type Observable } from 'rxjs';
import type { ConnectedDatabase } from '../../distributed/connect-database.js';
import { DatabaseError } from '../../distributed/database/database-error.js';
import type { CliIo } from '../io/cli-io.js';
import { plainText } from '../words/plain-text.js';

const pauseMs = 2_000;

/** Connects when the database is there: a worker may be started before it is. `undefined`: it was told to stop first. */
export async function awaitDatabase(
  connect: () => Promise<ConnectedDatabase>,
  stop$: Observable<unknown>,
  io: CliIo,
): Promise<ConnectedDatabase | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await connect();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== 'database-away') throw error;
      if (tries === 0) io.stderr.write(`warning: ${plainText(error.message, 2000)} Waiting for it.\n`);
      const again$ = timer(pauseMs, io.scheduler ?? asyncScheduler).pipe(map(() => true));
      if (!(await firstValueFrom(race(stop$.pipe(map(() => false)), again$)))) return undefined;
    }
  }
}
