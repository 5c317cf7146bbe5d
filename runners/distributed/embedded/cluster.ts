import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OpenLock } from '../../batch/lock/try-lock-file.js';
import { DatabaseError } from '../database/database-error.js';
import type { PostgresBinaries, ServerUser } from './postgres-binaries.js';

const run = promisify(execFile);

/** A folder with a PostgreSQL cluster in it. */
export interface Cluster {
  readonly folder: string;
  readonly password: string;
  readonly binaries: PostgresBinaries;
  readonly user: ServerUser;
  /** A server that does not answer for this long, in ms, is not waited for: it may be suspended. */
  readonly answerMs: number;
  /** Further settings, as `-c` takes them. */
  readonly settings?: readonly string[];
}

/** The name of the database's owner, and of the database. */
export const databaseName = 'millrace';

const settings = [
  'listen_addresses=127.0.0.1',
  // No socket files: their paths may be no longer than 107 bytes.
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
  'log_min_messages=warning',
];

/** Creates the cluster if there is none; an interrupted attempt is begun anew. */
export async function initCluster(cluster: Cluster): Promise<void> {
  const { folder, user, binaries, password, settings: further = [] } = cluster;
  if (await isInitialised(folder)) return;
  const data = dataFolder(folder);
  const passwordFile = join(folder, 'password');
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  for (const path of [data, passwordFile]) await giveTo(path, user);
  const options = ['--auth=scram-sha-256', `--username=${databaseName}`, '--encoding=UTF8', '--locale=C'];
  if (further.includes('fsync=off')) options.push('--no-sync');
  await run(binaries.initdb, [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...options], {
    ...user.ids,
    cwd: '/',
    env: environment(),
  }).catch((cause: unknown) => {
    const { stderr, message } = cause as Error & { stderr?: string };
    const why = (stderr ?? message).trim().split('\n').at(-1) ?? '';
    throw new DatabaseError('database', `The embedded PostgreSQL could not be set up in ${folder}: ${why}`, {
      cause,
    });
  });
  await rm(passwordFile);
  await writeFile(initialisedFile(folder), '', { flush: true });
}

export async function isInitialised(folder: string): Promise<boolean> {
  return (await stat(initialisedFile(folder)).catch(() => undefined)) !== undefined;
}

function initialisedFile(folder: string): string {
  return join(folder, 'initialised');
}

/**
 * Starts the server as a detached process: it outlives this one, and a Ctrl-C in the terminal does not reach it. The server
 * keeps `lock` until its last process has ended.
 */
export async function spawnServer(
  { folder, user, binaries, settings: further = [] }: Cluster,
  lock: OpenLock,
  onEnd: () => void,
): Promise<void> {
  await rm(join(dataFolder(folder), 'postmaster.pid'), { force: true });
  const port = await freePort(await notedPort(folder));
  await writeFile(join(folder, 'port'), `${port}\n`);
  const log = await open(logFile(folder), 'a', 0o600);
  try {
    const options = [...settings, ...further].flatMap((setting) => ['-c', setting]);
    const child = spawn(binaries.postgres, ['-D', dataFolder(folder), '-p', String(port), ...options], {
      ...user.ids,
      cwd: '/',
      env: environment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd, lock.fd],
    });
    child.once('exit', onEnd).once('error', onEnd);
    child.unref();
  } finally {
    await log.close();
  }
}

/** The port that the server was last started on. */
export async function notedPort(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'port'), 'utf8').catch(() => '');
  const port = Number(text.trim());
  return Number.isInteger(port) && port > 0 ? port : undefined;
}

/** The server's process id, from its own postmaster.pid. */
export async function serverPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(dataFolder(folder), 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
}

export function logFile(folder: string): string {
  return join(folder, 'server.log');
}

function dataFolder(folder: string): string {
  return join(folder, 'data');
}

async function giveTo(path: string, { ids }: ServerUser): Promise<void> {
  if (ids.uid !== undefined && ids.gid !== undefined) await chown(path, ids.uid, ids.gid);
}

/** Without the user's PG* variables, which would change where the server looks for its files. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: 'UTC', LC_ALL: 'C' };
}

/** The wanted port if it is free, so that connected processes find the server again; otherwise any free port. */
async function freePort(wanted: number | undefined): Promise<number> {
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
      });
    });
  return wanted === undefined ? listen(0) : listen(wanted).catch(() => listen(0));
}
