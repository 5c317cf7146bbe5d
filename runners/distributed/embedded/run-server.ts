import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { tryLockFile } from '../../batch/lock/try-lock-file.js';
import { DatabaseError } from '../database/database-error.js';
import { loadPg } from '../database/open-pool.js';
import {
  type Cluster,
  databaseName,
  initCluster,
  logFile,
  notedPort,
  serverPid,
  spawnServer,
} from './cluster.js';
import { readPlace } from './database-place.js';

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
    const client = await connected(
      new Client({
        connectionString: address('postgres'),
        ssl: false,
        application_name: presenceName,
        connectionTimeoutMillis: answerMs,
        query_timeout: answerMs,
      }),
    );
    const made = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (made.rowCount === 0) await client.query(`create database ${databaseName}`);
    return { url: address(databaseName), client };
  } catch (error) {
    return error as Error;
  }
}

async function connected(client: pg.Client): Promise<pg.Client> {
  // A broken connection is reported by its next query.
  client.on('error', () => undefined);
  await client.connect();
  return client;
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
