import type { ConnectionOptions } from 'node:tls';
import type { Pool, PoolConfig } from 'pg';
import type { DatabaseAddress } from './database-address.js';
import { explainDatabase } from './explain-database.js';
import { loadPg } from './load-pg.js';

export interface PoolSettings {
  /** Connections at most. @defaultValue 10 */
  readonly max?: number;
  /** What the database calls its connections. @defaultValue 'millrace' */
  readonly name?: string;
}

export interface OpenedPool {
  readonly pool: Pool;
  /** What is said to the database cannot be read on the way. */
  readonly isEncrypted: boolean;
}

/** An answer that takes longer is none. */
const connectMs = 10_000;

/**
 * Connections to a database, one of which has been made: what is wrong with its address or password is said now.
 *
 * @throws {DatabaseError} `database` where the address will not do, `database-away` where it cannot be reached.
 */
export async function openPool(address: DatabaseAddress, settings: PoolSettings = {}): Promise<OpenedPool> {
  const { Pool } = await loadPg();
  let refused: unknown;
  for (const ssl of address.tls) {
    const pool = new Pool(configOf(address, settings, ssl));
    // An idle connection that breaks is replaced by the next query, which tells when there is no other.
    pool.on('error', () => undefined);
    try {
      (await pool.connect()).release();
      return { pool, isEncrypted: ssl !== false };
    } catch (error) {
      await pool.end();
      refused = error;
      if (!isAboutTls(error)) break;
    }
  }
  throw explainDatabase(refused, address.shown);
}

function configOf(
  { url }: DatabaseAddress,
  { max = 10, name = 'millrace' }: PoolSettings,
  ssl: ConnectionOptions | false,
): PoolConfig {
  return {
    ...{ connectionString: url, ssl, max, application_name: name },
    ...{ connectionTimeoutMillis: connectMs, keepAlive: true, keepAliveInitialDelayMillis: connectMs },
    // A pool does not keep a process that is done.
    allowExitOnIdle: true,
  };
}

/** The next way may do: no TLS is offered, or none but TLS. */
function isAboutTls(error: unknown): boolean {
  const { message, code } = error as { message: string; code?: string };
  return message.includes('does not support SSL') || (code === '28000' && /encryption|SSL/i.test(message));
}
