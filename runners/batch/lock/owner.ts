import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { stateFolder } from '../disk/node-disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceUnsynced } from '../disk/replace-file.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { reasonOf, remedyOf } from '../disk/disk-fault.js';

/** The right to be the only process of a run. */
export interface RunHold {
  /** Whether its last holder died while holding it. */
  readonly isInherited?: boolean;
  /** Which other processes the hold does not exclude, if any. */
  readonly warning?: string;
  release(): Promise<void>;
}

/** The machine, or container, on which a process runs. */
export interface Host {
  readonly name: string;
  /** Changes with each boot; the same for all containers of one kernel. Linux only. */
  readonly bootId?: string | undefined;
  /** Stays the same over boots. Linux only. */
  readonly machineId?: string | undefined;
  readonly inContainer: boolean;
}

/** The holder of a run, for the message to the next start. */
export interface Owner {
  readonly pid: number;
  readonly host: Host;
  /** ISO time; only shown. */
  readonly started: string;
  readonly command: string;
  /** When the process began, in clock ticks since the boot: a later process may have the same number. Linux only. */
  readonly startTicks?: number | undefined;
}

export const ownerSchema = z.object({
  pid: z.number(),
  host: z.object({
    name: z.string(),
    bootId: z.string().optional(),
    machineId: z.string().optional(),
    inContainer: z.boolean(),
  }),
  started: z.string(),
  command: z.string(),
  startTicks: z.number().optional(),
});

/**
 * Whether a free lock proves that the owner is dead. It does if both processes have the same kernel, or if the machine was
 * booted since. A container is identified by its name and its kernel, because another one may have the same name elsewhere.
 */
export function isSameHost(owner: Host, here: Host): boolean {
  if (owner.name !== here.name) return false;
  if (owner.bootId !== undefined && owner.bootId === here.bootId) return true;
  if (owner.inContainer || here.inContainer || owner.machineId !== here.machineId) return false;
  // Without a machine id, a different boot id may also mean a different machine, so the owner must not count as dead.
  return here.machineId !== undefined || (owner.bootId === undefined && here.bootId === undefined);
}

/** A longer file, in bytes, is not such a note. */
const mostBytes = 16 << 10;

/** The content of a small file; `undefined` if it is missing, empty or too long. Throws if it has another content. */
export async function readNote<T>(
  disk: Disk,
  path: string,
  schema: z.ZodType<T>,
  most = mostBytes,
): Promise<T | undefined> {
  const size = (await disk.stat(path))?.size ?? 0;
  if (size === 0 || size > most) return undefined;
  // Behind its line may be the end of a longer note that it has replaced.
  const [line = ''] = (await readFile(disk, path, size)).toString().split('\n', 1);
  return schema.parse(JSON.parse(line));
}

/**
 * Writes such a file over the one before, which stays where the disk is full. Returns whether it was written; if not, a
 * start that is refused cannot name the owner.
 */
export async function writeNote(disk: Disk, path: string, note: object): Promise<boolean> {
  const file = await disk.open(path, 'a+').catch(() => undefined);
  if (file === undefined) return false;
  try {
    const bytes = Buffer.from(`${JSON.stringify(note)}\n`);
    await file.write(bytes, 0);
    await file.truncate(bytes.length);
    return true;
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** The same for a note that may be large: written over the one before, a full disk would leave neither. It must not be a locked file. */
export async function replaceNote(disk: Disk, path: string, note: object): Promise<boolean> {
  try {
    await replaceUnsynced(disk, path, `${JSON.stringify(note)}\n`);
    return true;
  } catch {
    return false;
  }
}

/** The folders for files outside of a run's folder, in order of preference. A user number without a name may have no home. */
export function usualFolders(home: () => string = homedir): string[] {
  const temporary = `${tmpdir()}/millrace-${process.getuid?.() ?? 'user'}`;
  const folderIn = (path: string) => stateFolder(process.env, process.platform, path);
  try {
    return [folderIn(home()), temporary];
  } catch {
    return [folderIn(temporary), temporary];
  }
}

/** The file with the name of a run's owner. */
export function ownerPath(folder: string): string {
  return `${folder}/.owner.json`;
}

/** The owner in a run's owner file. `undefined` if there is no file; `unreadable` if it cannot be read. */
export async function readOwner(disk: Disk, folder: string): Promise<Owner | 'unreadable' | undefined> {
  const path = ownerPath(folder);
  try {
    if ((await disk.stat(path)) === undefined) return undefined;
    return (await readNote(disk, path, ownerSchema)) ?? 'unreadable';
  } catch {
    return 'unreadable';
  }
}

/**
 * The process that holds a run, according to the owner file, without touching the lock; `undefined` if there is none,
 * or if it is gone. A process on another host counts as running.
 */
export async function whoHolds(disk: Disk, folder: string): Promise<Owner | undefined> {
  const owner = await readOwner(disk, folder);
  return owner === undefined || owner === 'unreadable' || isGone(owner, thisHost()) ? undefined : owner;
}

/** Whether this process has certainly ended. Another one that has got its number since, also after a boot, does not count. */
export function isGone({ pid, host, startTicks }: Owner, here: Host): boolean {
  if (!isSameHost(host, here)) return false;
  if (host.bootId !== here.bootId || !isAlive(pid)) return true;
  const ticks = startTicksOf(pid);
  return startTicks !== undefined && ticks !== undefined && startTicks !== ticks;
}

/** The 22nd field of its line in /proc; the second one is a name in brackets, which may contain anything. */
export function startTicksOf(pid: number): number | undefined {
  const [, fields = ''] = /^\d+ \(.*\) (.*)$/s.exec(textOf(`/proc/${pid}/stat`)) ?? [];
  const ticks = fields.split(' ')[19];
  return ticks === undefined ? undefined : Number(ticks);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended keeps its number until its parent asks for it, which never happens in a container without an
    // init.
    return !/^\d+ \(.*\) [ZX] /s.test(textOf(`/proc/${pid}/stat`));
  } catch (error) {
    // The process exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The machine on which this process runs. Facts that the system does not provide are `undefined`. */
export function thisHost(): Host {
  return {
    name: hostname(),
    bootId: firstLine('/proc/sys/kernel/random/boot_id'),
    machineId: firstLine('/etc/machine-id'),
    inContainer: isInContainer(),
  };
}

/**
 * Docker and Podman create a file, Kubernetes sets a variable, others have a word in the first process's cgroup, and nearly all
 * have an overlay as root.
 */
function isInContainer(): boolean {
  return (
    ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)) ||
    process.env['KUBERNETES_SERVICE_HOST'] !== undefined ||
    /docker|kubepods|containerd|lxc|libpod/.test(textOf('/proc/1/cgroup')) ||
    /^\S+ \/ overlay /m.test(textOf('/proc/self/mounts'))
  );
}

function firstLine(path: string): string | undefined {
  const line = textOf(path).split('\n', 1)[0]?.trim();
  return line === '' ? undefined : line;
}

/** Empty if there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * `held`: another process has the run (exit code 75). `lock-unavailable`: locks do not work here. `lock-io`: the disk failed.
 * `moved`: the folder was moved or removed during an earlier run, and not put back. `copied`: the run has continued elsewhere
 * (these have exit code 74).
 */
type LockErrorCode = 'held' | 'lock-unavailable' | 'lock-io' | 'moved' | 'copied';

export class LockError extends MillraceError {
  static override readonly name: string = 'LockError';
  declare readonly code: LockErrorCode;

  constructor(
    code: LockErrorCode,
    message: string,
    /** The owner of the run, if it is known. */
    readonly owner?: Owner,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** A file that the run is locked with cannot be opened or written. Nothing has been sent. */
export function lockFault(what: string, doing: 'opened' | 'written', cause: unknown): LockError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const text = `${what} cannot be ${doing}: ${reasonOf(code) ?? message}. Nothing was sent. ${remedyOf(code)} and run the same command again.`;
  return new LockError('lock-io', text, undefined, { cause });
}
