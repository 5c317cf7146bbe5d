import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAddress, type DatabaseAddress } from './database/database-address.js';
import { explainDatabase } from './database/database-error.js';
import { migrate } from './database/migrate.js';
import { openPool, type PoolSettings } from './database/open-pool.js';
import { joinEmbedded } from './embedded/join-embedded.js';
import { openQueue } from './queue/row-queue.js';
import type { RunDatabase } from './table/run-database.js';

/** Which database: an address, or the embedded one of a run's folder. */
export type DatabaseChoice = { readonly url: string } | { readonly embeddedIn: string };

export interface DatabaseSettings extends PoolSettings {
  /** Environment variables as libpq reads them. @defaultValue process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A connected database with an up-to-date schema. */
export interface ConnectedDatabase extends RunDatabase {
  /** Its address for messages and files, without the password. */
  readonly shown: string;
  readonly isEmbedded: boolean;
  /** The connection uses TLS, or stays on this machine. */
  readonly isPrivate: boolean;
  /** Closes all connections. The last process to close an embedded database stops it. */
  close(): Promise<void>;
}

/**
 * Connects, and brings the schema up to date. An embedded database is started if it does not run, and again if it ends.
 *
 * @throws {DatabaseError}
 */
export async function connectDatabase(
  choice: DatabaseChoice,
  settings: DatabaseSettings = {},
): Promise<ConnectedDatabase> {
  const { env = process.env } = settings;
  if ('url' in choice) return connected(databaseAddress(choice.url, env), settings);
  const whileOpen = new AbortController();
  const embedded = await joinEmbedded(choice.embeddedIn, {
    onEnd: () => void startAgain(() => embedded.ensure(), whileOpen.signal),
  });
  const leave = async () => {
    whileOpen.abort();
    await embedded.leave();
  };
  try {
    // The user's own PG* variables are not meant for it.
    const address = databaseAddress(`${embedded.url}?sslmode=disable`, {});
    const database = await connected(address, settings);
    const close = () => database.close().finally(leave);
    return {
      ...database,
      shown: `embedded in ${choice.embeddedIn}`,
      isEmbedded: true,
      isPrivate: true,
      close,
    };
  } catch (error) {
    await leave();
    throw error;
  }
}

async function connected(address: DatabaseAddress, settings: PoolSettings): Promise<ConnectedDatabase> {
  const { pool, isEncrypted } = await openPool(address, settings);
  try {
    const queue = await migrate(pool, () => openQueue(pool));
    const close = async () => {
      await queue.close();
      await pool.end();
    };
    const isPrivate = isEncrypted || isNear(address);
    return { pool, queue, shown: address.shown, isEmbedded: false, isPrivate, close };
  } catch (error) {
    await pool.end();
    throw explainDatabase(error, address.shown);
  }
}

/** The connection stays on this machine. */
function isNear({ url }: DatabaseAddress): boolean {
  const { hostname } = new URL(url);
  return hostname === '' || hostname === 'localhost' || hostname === '[::1]' || /^127\.|^%2f/i.test(hostname);
}

const pauseMs = 1_000;

async function startAgain(start: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const isStarted = await start().then(
      () => true,
      () => false,
    );
    if (isStarted) return;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
