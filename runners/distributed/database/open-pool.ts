import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import type { DatabaseAddress } from './database-address.js';
import { explainDatabase, DatabaseError } from './database-error.js';

export interface PoolSettings {
  /** Connections at most. @defaultValue 10 */
  readonly max?: number;
  /** What the database calls its connections. @defaultValue 'millrace' */
  readonly name?: string;
}

interface OpenedPool {
  readonly pool: pg.Pool;
  /** What is said to the database cannot be read on the way. */
  readonly isEncrypted: boolean;
}

/** An answer that takes longer is none. */
const connectMs = 10_000;
/** Who holds a run's lock and is not heard of for so long is let go: the others would wait until his link is back. */
const silentMs = 5_000;
/** The database learns within 25 s that a machine is gone. */
const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/**
 * Connections to a database, once one has been made: what is wrong with its address or password is said now.
 *
 * @throws {DatabaseError} `database` where the address will not do, `database-away` where it cannot be reached.
 */
export async function openPool(address: DatabaseAddress, settings: PoolSettings = {}): Promise<OpenedPool> {
  const driver = await loadPg();
  let refused: unknown;
  for (const ssl of address.tls) {
    const config = configOf(address, settings, ssl);
    try {
      await tryOnce(new driver.Client(config));
    } catch (error) {
      refused = error;
      if (isAboutTls(error)) continue;
      break;
    }
    const pool = new driver.Pool(config);
    // An idle connection that breaks is replaced by the next query, which tells when there is no other.
    pool.on('error', () => undefined);
    // One that is let in and thrown out in one breath breaks before whoever asked for it can listen.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return { pool, isEncrypted: ssl !== false };
  }
  throw explainDatabase(refused, address.shown);
}

/** A connection of no pool: a pool keeps one open that failed for want of a password, and the server waits for it. */
async function tryOnce(client: pg.Client): Promise<void> {
  client.on('error', () => undefined);
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}

function configOf(
  { url }: DatabaseAddress,
  { max = 10, name = 'millrace' }: PoolSettings,
  ssl: ConnectionOptions | false,
): pg.PoolConfig {
  return {
    ...{ connectionString: url, ssl, max, application_name: name },
    ...{ connectionTimeoutMillis: connectMs, keepAlive: true, keepAliveInitialDelayMillis: connectMs },
    idle_in_transaction_session_timeout: silentMs,
    options: Object.entries(keepAlive)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    // A pool does not keep a process that is done.
    allowExitOnIdle: true,
  };
}

/** The next way may do: no TLS is offered, or none but TLS. */
function isAboutTls(error: unknown): boolean {
  const { message, code } = error as { message: string; code?: string };
  return message.includes('does not support SSL') || (code === '28000' && /encryption|SSL/i.test(message));
}

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
