import { defer, retry, Subject, takeUntil } from 'rxjs';
import { databaseAddress, type DatabaseAddress } from './database/database-address.js';
import { explainDatabase } from './database/database-error.js';
import { makeTables } from './database/make-tables.js';
import { openPool, refuseDroppedSettings, type PoolSettings } from './database/open-pool.js';
import { joinEmbedded } from './embedded/join-embedded.js';
import { openQueue } from './queue/row-queue.js';
import type { RunDatabase } from './table/run-ledger.js';

/** Which database: an address, or the embedded one of a run's folder. */
export type DatabaseChoice = { readonly url: string } | { readonly embeddedIn: string };

export interface DatabaseSettings extends PoolSettings {
  /** Environment variables as libpq reads them. @defaultValue process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Creates a new embedded database if the folder of the run's one is gone. @defaultValue false */
  readonly repair?: boolean | undefined;
}

/** A connected database with millrace's tables. */
export interface ConnectedDatabase extends RunDatabase {
  /** Its address for messages and files, without the password. */
  readonly shown: string;
  readonly isEmbedded: boolean;
  /** A warning for the user: others may read the connection's traffic. Absent if it uses TLS or stays on this machine. */
  readonly warning?: string;
  /** Closes all connections. The last process to close an embedded database stops it. */
  close(): Promise<void>;
}

/** The time between two attempts to start an embedded database that has ended. */
const againMs = 1_000;

/**
 * Connects, and creates the tables if they are missing. An embedded database is started if it does not run, and again if it ends.
 *
 * @throws {DatabaseError}
 */
export async function connectDatabase(
  choice: DatabaseChoice,
  settings: DatabaseSettings = {},
): Promise<ConnectedDatabase> {
  const { env = process.env, repair } = settings;
  if ('url' in choice) return connected(databaseAddress(choice.url, env), settings);
  const left = new Subject<void>();
  const embedded = await joinEmbedded(choice.embeddedIn, {
    repair,
    onEnd: () =>
      defer(() => embedded.ensure())
        .pipe(retry({ delay: againMs }), takeUntil(left))
        .subscribe(),
  });
  const leave = () => {
    left.next();
    return embedded.leave();
  };
  try {
    // The user's own PG* variables are not meant for it.
    const address = databaseAddress(`${embedded.url}?sslmode=disable`, {});
    const database = await connected(address, settings);
    const close = () => database.close().finally(leave);
    return { ...database, shown: `embedded in ${choice.embeddedIn}`, isEmbedded: true, close };
  } catch (error) {
    await leave();
    throw error;
  }
}

async function connected(address: DatabaseAddress, settings: PoolSettings): Promise<ConnectedDatabase> {
  const { pool, isEncrypted, close: closePool } = await openPool(address, settings);
  try {
    await refuseDroppedSettings(pool);
    const queue = await makeTables(pool, () => openQueue(pool));
    const close = async () => {
      await queue.close();
      await closePool();
    };
    const { shown } = address;
    const warning = `the connection to ${shown} is not encrypted: PGSSLMODE=verify-full checks and encrypts it`;
    const isPrivate = isEncrypted || isNear(address);
    return { pool, queue, shown, isEmbedded: false, ...(!isPrivate && { warning }), close };
  } catch (error) {
    await closePool();
    throw explainDatabase(error, address.shown);
  }
}

/** The connection stays on this machine. */
function isNear({ url }: DatabaseAddress): boolean {
  const { hostname } = new URL(url);
  return hostname === '' || hostname === 'localhost' || hostname === '[::1]' || /^127\.|^%2f/i.test(hostname);
}
