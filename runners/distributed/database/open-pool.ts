import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import type { DatabaseAddress } from './database-address.js';
import { explainDatabase, DatabaseError, SettingsDropped } from './database-error.js';

export interface PoolSettings {
  /** The greatest number of connections. @defaultValue 10 */
  readonly max?: number;
  /** The application name of its connections. @defaultValue 'millrace' */
  readonly name?: string;
  /** Timeout of a statement in ms: it fails, and its connection is closed. @defaultValue 30_000 */
  readonly answerMs?: number;
}

interface OpenedPool {
  readonly pool: pg.Pool;
  /** The connection uses TLS. */
  readonly isEncrypted: boolean;
  /** Ends the pool. A connection whose server does not answer any more is cut, and keeps the process from nothing. */
  readonly close: () => Promise<void>;
}

const connectMs = 10_000;
/** Queries that are still sent when the pool is closed are awaited for this long. */
const closeMs = 2_000;
/** The database ends a transaction that is idle for this long, because it may hold a run's lock that others wait for. */
const silentMs = 5_000;
const silentSetting = 'idle_in_transaction_session_timeout';
/** The database notices within 25 s that a machine is gone. */
const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
/**
 * Settings that do not depend on the user, the database, the server or the address: a crash must not lose an intent whose POST was sent, a
 * statement that has waited for a lock must see what was committed meanwhile, nothing but `query_timeout` ends a statement, and
 * numbers have all their digits.
 */
const ownSettings = {
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  statement_timeout: '0',
  lock_timeout: '0',
  extra_float_digits: '1',
};
/** Likewise, but only PostgreSQL 17 and newer knows it. */
const newSettings = { transaction_timeout: '0' };

/**
 * Opens a pool of connections, after one trial connection that reports a wrong address or password at once.
 *
 * @throws {DatabaseError} `database` if address, password or TLS are wrong, `database-away` if it cannot be reached.
 */
export async function openPool(address: DatabaseAddress, settings: PoolSettings = {}): Promise<OpenedPool> {
  const driver = await loadPg();
  let refused: unknown;
  for (const ssl of address.tls) {
    const sockets = new Set<Socket>();
    const connectWith = (own: Readonly<Record<string, string>>) => ({
      ...configOf(address, settings, ssl, own),
      stream: () => noted(sockets),
    });
    let config = connectWith(ownSettings);
    try {
      const version = await tryOnce(new driver.Client(config), sockets);
      if (version >= 17) config = connectWith({ ...ownSettings, ...newSettings });
    } catch (error) {
      refused = error;
      if (isAboutTls(error)) continue;
      break;
    }
    const pool = new driver.Pool(config);
    // When an idle connection breaks, the next query opens a new one, and rejects if it cannot.
    pool.on('error', () => undefined);
    // A connection closed right after it is accepted emits `error` before the caller can attach a listener.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return { pool, isEncrypted: ssl !== false, close: () => endPool(pool, sockets) };
  }
  throw explainDatabase(refused, address.shown);
}

function noted(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

async function endPool(pool: pg.Pool, sockets: ReadonlySet<Socket>): Promise<void> {
  await endInTime(() => pool.end(), sockets);
  // The server is asked to close them, and may never answer.
  for (const socket of sockets) socket.unref();
}

/** Ends connections, and cuts those whose server does not answer any more. */
async function endInTime(end: () => Promise<void>, sockets: ReadonlySet<Socket>): Promise<void> {
  const late = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, closeMs);
  await end().finally(() => clearTimeout(late));
}

/**
 * Connects without a pool, which would keep a connection open that failed for lack of a password. Returns the major version of the
 * server, if it has one.
 */
async function tryOnce(client: pg.Client, sockets: ReadonlySet<Socket>): Promise<number> {
  client.on('error', () => undefined);
  let version = 0;
  const { connection } = client as unknown as { readonly connection: EventEmitter };
  connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
    if (parameterName === 'server_version') version = Number.parseInt(parameterValue ?? '', 10);
  });
  try {
    await client.connect();
  } finally {
    await endInTime(() => client.end(), sockets);
  }
  return version;
}

/**
 * A pooler may accept settings of a connection and drop them, and so would a server of another make.
 *
 * @throws {SettingsDropped}
 */
export async function refuseDroppedSettings(pool: pg.Pool): Promise<void> {
  const wanted = { ...ownSettings, [silentSetting]: String(silentMs) };
  const { rows } = await pool.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1::text[])',
    [Object.keys(wanted)],
  );
  const found = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const [name, value] of Object.entries(wanted))
    if (found.get(name) !== value) throw new SettingsDropped(name, value, found.get(name));
}

function configOf(
  { url }: DatabaseAddress,
  { max = 10, name = 'millrace', answerMs = 30_000 }: PoolSettings,
  ssl: ConnectionOptions | false,
  own: Readonly<Record<string, string>>,
): pg.PoolConfig {
  const address = new URL(url);
  const given = address.searchParams.get('options') ?? '';
  // The driver prefers parameters of the address to what it is given here.
  for (const name of ['options', silentSetting, ...Object.keys(own)]) address.searchParams.delete(name);
  const options = Object.entries({ ...keepAlive, ...own }).map(
    ([name, value]) => `-c ${name}=${String(value).replace(' ', '\\ ')}`,
  );
  return {
    connectionString: address.href,
    ssl,
    max,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: connectMs,
    [silentSetting]: silentMs,
    query_timeout: answerMs,
    // Statements are sent without waiting for the answers to earlier ones.
    pipeline: true,
    // Of two values of a setting the server takes the last one.
    options: [given, ...options].join(' ').trim(),
    // An idle pool does not keep the process alive.
    allowExitOnIdle: true,
  };
}

/** Whether the server refused because it offers no TLS, or only TLS: the next way to connect may work. */
function isAboutTls(error: unknown): boolean {
  const { message, code } = error as { message: string; code?: string };
  return message.includes('does not support SSL') || (code === '28000' && /encryption|SSL/i.test(message));
}

/**
 * Loads the driver of PostgreSQL, an optional package.
 * @throws {DatabaseError} with the advice `npm i pg pg-boss`
 */
export async function loadPg(): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const message = '--db needs packages that are not installed: npm i pg pg-boss';
    throw new DatabaseError('database', message, { cause });
  }
}
