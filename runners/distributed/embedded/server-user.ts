import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DatabaseError } from '../database/database-error.js';

const run = promisify(execFile);

/** The user that the server runs as. PostgreSQL refuses to run as root, so root uses the system's user `postgres`. */
export interface ServerUser {
  readonly ids: { readonly uid?: number; readonly gid?: number };
  /** Whether that user may enter a folder, or execute a file. */
  readonly mayUse: MayUse;
}

export type MayUse = (path: string) => Promise<boolean>;

/** @throws {DatabaseError} as root, when that user does not exist and cannot be created. */
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
