import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAddress, type DatabaseAddress } from './database/database-address.js';
import { explainDatabase } from './database/database-error.js';
import { migrate } from './database/migrate.js';
import { openPool, type PoolSettings } from './database/open-pool.js';
import { joinEmbedded } from './embedded/join-embedded.js';
import { type Database, openQueue } from './records/database.js';

/** Which database: by its address, or the one inside a run's folder. */
export type DatabaseChoice = { readonly url: string } | { readonly embeddedIn: string };

export interface DatabaseSettings extends PoolSettings {
  /** libpq's. @defaultValue process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A database that is connected, and whose schema is this millrace's. */
export interface ConnectedDatabase extends Database {
  /** For people and files: without its password. */
  readonly shown: string;
  readonly isEmbedded: boolean;
  /** Nobody on the way can read along. */
  readonly isPrivate: boolean;
  /** Lets go of it; an embedded one ends with the last who does. */
  close(): Promise<void>;
}

/**
 * Connects, and brings the schema up to date. An embedded database is started where it does not run, and again where it
 * ends.
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
    // Nothing of the person's own PostgreSQL is meant for it.
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
    const boss = await migrate(pool, () => openQueue(pool));
    const close = async () => {
      await boss.stop({ graceful: false, wait: false }).catch(() => undefined);
      await pool.end();
    };
    const isPrivate = isEncrypted || isNear(address);
    return { pool, boss, shown: address.shown, isEmbedded: false, isPrivate, close };
  } catch (error) {
    await pool.end();
    throw explainDatabase(error, address.shown);
  }
}

/** What is said stays on this machine. */
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
