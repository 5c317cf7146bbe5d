import { dirname } from 'node:path';
import type { Disk, DiskAtOnce, DiskFile, FileAtOnce } from '../../runners/batch/disk/disk.js';
import { ForgetfulFile } from './forgetful-file.js';

export type DiskCall =
  | 'open'
  | 'read'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'size'
  | 'close'
  | 'rename'
  | 'unlink'
  | 'mkdir'
  | 'list'
  | 'stat'
  | 'syncFolder';

/** A call that fails. Without `nth` every call that matches does. */
export interface DiskFault {
  readonly code: 'ENOSPC' | 'EIO' | 'EFBIG' | 'EROFS' | 'EMFILE' | 'EACCES' | 'EDQUOT';
  readonly call?: DiskCall | readonly DiskCall[];
  /** Part of the path. */
  readonly path?: string;
  /** The how manieth call that matches, from 1. */
  readonly nth?: number;
  /** From `nth` on, until `heal()`. @defaultValue false */
  readonly lasting?: boolean;
}

export interface ForgetfulDiskOptions {
  /** Chance of everything below. @defaultValue always 0.5 */
  readonly random?: () => number;
  readonly faults?: readonly DiskFault[];
  /** This call, counted from 1, and all after it find the power cut. */
  readonly crashAt?: number;
  /** What a call does after the crash: reject, or never answer, as for a process that is gone. @defaultValue 'reject' */
  readonly afterCrash?: 'reject' | 'hang';
  /** Writes and reads take a random part of what they are given. @defaultValue false */
  readonly shortTransfers?: boolean;
  /** Files have no numbers, as on some network file systems. @defaultValue false */
  readonly withoutIds?: boolean;
  /** Room for bytes: a write takes what fits, the next one is ENOSPC. @defaultValue no bound */
  readonly capacity?: number;
}

/** Every call after the crash. */
export class PowerCut extends Error {
  override readonly name = 'PowerCut';
  constructor() {
    super('the power is cut');
  }
}

interface NameChange {
  readonly folder: string;
  readonly set?: readonly [path: string, file: ForgetfulFile];
  readonly drop?: string;
}

/**
 * A disk in memory that forgets as real ones may: bytes that were not synced are kept, dropped or half written at a crash,
 * and names (new files, renames, removals) last only from the sync of their folder on. Folders themselves last at once.
 */
export class ForgetfulDisk implements Disk {
  /** Calls so far, those of open files included. */
  calls = 0;
  readonly counts: Partial<Record<DiskCall, number>> = {};
  /** Each call with its path, in order. */
  readonly log: string[] = [];
  crashed = false;
  private names = new Map<string, ForgetfulFile>();
  private durableNames = new Map<string, ForgetfulFile>();
  private unsyncedNames: NameChange[] = [];
  private readonly folders = new Set<string>(['/', '.']);
  private healed = false;
  private readonly matched = new Map<DiskFault, number>();
  private readonly random: () => number;

  constructor(private readonly options: ForgetfulDiskOptions = {}) {
    this.random = options.random ?? (() => 0.5);
  }

  /** The file as programs see it now; no call is counted. */
  peek(path: string): Buffer | undefined {
    return this.names.get(path)?.content;
  }

  /** Puts a durable file there; no call is counted. */
  plant(path: string, content: Uint8Array | string): void {
    const file = new ForgetfulFile(Buffer.from(content));
    this.settleNames();
    this.names.set(path, file);
    this.durableNames.set(path, file);
    this.addFolders(dirname(path));
  }

  /** Changes a file's bytes in place, durably; no call is counted. */
  overwrite(path: string, content: Uint8Array | string): void {
    const file = this.names.get(path);
    if (file === undefined) return this.plant(path, content);
    file.truncate(0);
    file.write(Buffer.from(content), 0);
    file.sync();
  }

  /** Takes a file away, durably; no call is counted. */
  drop(path: string): void {
    this.settleNames();
    this.names.delete(path);
    this.durableNames.delete(path);
  }

  /** Gives a file another name, durably; no call is counted. Whoever has it open writes to it there. */
  moveFile(from: string, to: string): void {
    const file = this.names.get(from);
    if (file === undefined) return;
    this.drop(from);
    this.names.set(to, file);
    this.durableNames.set(to, file);
  }

  /** Gives a folder another name, durably; no call is counted. Open files stay open. */
  moveFolder(from: string, to: string): void {
    const moved = (path: string): string =>
      path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
    this.settleNames();
    for (const names of [this.names, this.durableNames]) {
      const entries = [...names];
      names.clear();
      for (const [path, file] of entries) names.set(moved(path), file);
    }
    for (const folder of [...this.folders]) {
      this.folders.delete(folder);
      this.folders.add(moved(folder));
    }
    this.addFolders(dirname(to));
  }

  /** Removes a folder with all that is in it, durably; no call is counted. */
  removeFolder(path: string): void {
    for (const name of [...this.names.keys()]) if (name.startsWith(`${path}/`)) this.drop(name);
    for (const folder of [...this.folders])
      if (folder === path || folder.startsWith(`${path}/`)) this.folders.delete(folder);
  }

  /** All paths as programs see them now; no call is counted. */
  paths(): string[] {
    return [...this.names.keys()].sort();
  }

  /** Ends all faults, as when space has been freed. */
  heal(): void {
    this.healed = true;
  }

  crash(): void {
    this.crashed = true;
  }

  /** The disk after the power is back, with what survived. The old one stays dead. */
  restart(options: ForgetfulDiskOptions = { random: this.random }): ForgetfulDisk {
    this.crash();
    const next = new ForgetfulDisk(options);
    for (const folder of this.folders) next.folders.add(folder);
    const kept = Math.floor(this.random() * (this.unsyncedNames.length + 1));
    for (const change of this.unsyncedNames.slice(0, kept)) rename(this.durableNames, change);
    const files = new Map(
      [...new Set(this.durableNames.values())].map((file) => [file, file.afterCrash(this.random)]),
    );
    for (const [path, file] of this.durableNames) {
      next.names.set(path, files.get(file)!);
      next.durableNames.set(path, files.get(file)!);
    }
    return next;
  }

  /** The same disk for the next process, when this one is killed and the power stays: nothing is lost, and nothing more durable. */
  handOver(options: ForgetfulDiskOptions = { random: this.random }): ForgetfulDisk {
    this.crash();
    const next = new ForgetfulDisk(options);
    next.names = this.names;
    next.durableNames = this.durableNames;
    next.unsyncedNames = this.unsyncedNames;
    for (const folder of this.folders) next.folders.add(folder);
    return next;
  }

  async open(path: string, flags: 'r' | 'r+' | 'a+' | 'wx'): Promise<DiskFile> {
    await this.call('open', path);
    if (this.folders.has(path)) throw failure('EISDIR', 'open', path);
    let file = this.names.get(path);
    if (file !== undefined && flags === 'wx') throw failure('EEXIST', 'open', path);
    if (file === undefined) {
      if (flags === 'r' || flags === 'r+') throw failure('ENOENT', 'open', path);
      file = this.create(path);
    }
    return this.handle(path, file, flags);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.call('rename', from);
    const file = this.names.get(from);
    if (file === undefined) throw failure('ENOENT', 'rename', from);
    this.needFolder('rename', to);
    this.changeName({ folder: dirname(to), set: [to, file], drop: from });
  }

  async unlink(path: string): Promise<void> {
    await this.call('unlink', path);
    if (!this.names.has(path)) throw failure('ENOENT', 'unlink', path);
    this.changeName({ folder: dirname(path), drop: path });
  }

  async mkdir(path: string): Promise<void> {
    await this.call('mkdir', path);
    if (this.names.has(path)) throw failure('EEXIST', 'mkdir', path);
    this.addFolders(path);
  }

  async list(path: string): Promise<string[]> {
    await this.call('list', path);
    return this.namesIn(path);
  }

  private namesIn(path: string): string[] {
    const inside = [...this.names.keys(), ...this.folders].filter(
      (name) => name !== path && dirname(name) === path,
    );
    return inside.map((name) => name.slice(path === '/' ? 1 : path.length + 1));
  }

  async stat(path: string): ReturnType<Disk['stat']> {
    await this.call('stat', path);
    if (this.folders.has(path)) return { size: 0, kind: 'folder' };
    const file = this.names.get(path);
    return file && { size: file.size, kind: 'file', ...(!this.options.withoutIds && { id: file.id }) };
  }

  /** It has no links. */
  realPath(path: string): Promise<string> {
    return Promise.resolve(path);
  }

  async syncFolder(path: string): Promise<void> {
    await this.call('syncFolder', path);
    for (const change of this.unsyncedNames) if (change.folder === path) rename(this.durableNames, change);
    this.unsyncedNames = this.unsyncedNames.filter(({ folder }) => folder !== path);
  }

  /** No call of these is counted. What is appended may be lost with the power. */
  readonly atOnce: DiskAtOnce = {
    open: (path): FileAtOnce => {
      this.needPower();
      return this.appended(path, this.names.get(path) ?? this.create(path));
    },
    list: (path) => {
      this.needPower();
      return this.namesIn(path);
    },
  };

  private create(path: string): ForgetfulFile {
    this.needFolder('open', path);
    const file = new ForgetfulFile();
    this.changeName({ folder: dirname(path), set: [path, file] });
    return file;
  }

  private appended(path: string, file: ForgetfulFile): FileAtOnce {
    return {
      append: (bytes) => {
        this.needPower();
        const count = Math.min(bytes.length, this.roomFor(file, file.size));
        if (count <= 0 && bytes.length > 0) throw failure('ENOSPC', 'write', path);
        file.write(bytes.subarray(0, count), file.size);
        return count;
      },
      size: () => file.size,
      truncate: (size) => file.truncate(size),
      close: () => undefined,
    };
  }

  private needPower(): void {
    if (this.crashed) throw new PowerCut();
  }

  private handle(path: string, file: ForgetfulFile, flags: string): DiskFile {
    return {
      read: async (into, position) => {
        await this.call('read', path);
        return file.read(into.subarray(0, this.part(into.length)), position);
      },
      write: async (bytes, position) => {
        await this.call('write', path);
        if (flags === 'r') throw failure('EBADF', 'write', path);
        const count = Math.min(this.part(bytes.length), this.roomFor(file, position));
        if (count <= 0 && bytes.length > 0) throw failure('ENOSPC', 'write', path);
        file.write(bytes.subarray(0, count), position);
        return count;
      },
      sync: async () => {
        await this.call('sync', path);
        file.sync();
      },
      truncate: async (size) => {
        await this.call('truncate', path);
        file.truncate(size);
      },
      size: async () => {
        await this.call('size', path);
        return file.size;
      },
      id: () => Promise.resolve(this.options.withoutIds ? undefined : file.id),
      close: () => this.call('close', path),
    };
  }

  /** How many bytes the file may reach from `position` on. */
  private roomFor(file: ForgetfulFile, position: number): number {
    if (this.options.capacity === undefined || this.healed) return Number.MAX_SAFE_INTEGER;
    const others = [...new Set(this.names.values())].reduce(
      (sum, other) => sum + (other === file ? 0 : other.size),
      0,
    );
    return Math.max(this.options.capacity - others - position, 0);
  }

  private part(length: number): number {
    return this.options.shortTransfers && length > 1 ? 1 + Math.floor(this.random() * length) : length;
  }

  private async call(call: DiskCall, path: string): Promise<void> {
    if (!this.crashed && ++this.calls === this.options.crashAt) this.crash();
    if (this.crashed)
      return this.options.afterCrash === 'hang'
        ? new Promise<never>(() => undefined)
        : Promise.reject(new PowerCut());
    this.counts[call] = (this.counts[call] ?? 0) + 1;
    this.log.push(`${call} ${path}`);
    const fault = this.healed
      ? undefined
      : this.options.faults?.find((candidate) => this.strikes(candidate, call, path));
    if (fault) throw failure(fault.code, call, path);
  }

  private strikes(fault: DiskFault, call: DiskCall, path: string): boolean {
    const calls = fault.call === undefined ? undefined : [fault.call].flat();
    if (calls?.includes(call) === false || (fault.path !== undefined && !path.includes(fault.path)))
      return false;
    const count = (this.matched.get(fault) ?? 0) + 1;
    this.matched.set(fault, count);
    return fault.nth === undefined || count === fault.nth || (fault.lasting === true && count > fault.nth);
  }

  /** All names are durable as programs see them now. */
  private settleNames(): void {
    for (const change of this.unsyncedNames.splice(0)) rename(this.durableNames, change);
  }

  private changeName(change: NameChange): void {
    this.unsyncedNames.push(change);
    rename(this.names, change);
  }

  private needFolder(call: string, path: string): void {
    const folder = dirname(path);
    if (this.names.has(folder)) throw failure('ENOTDIR', call, path);
    if (!this.folders.has(folder)) throw failure('ENOENT', call, path);
  }

  private addFolders(path: string): void {
    for (let folder = path; !this.folders.has(folder); folder = dirname(folder)) this.folders.add(folder);
  }
}

function rename(names: Map<string, ForgetfulFile>, { set, drop }: NameChange): void {
  if (drop !== undefined) names.delete(drop);
  if (set !== undefined) names.set(...set);
}

function failure(code: string, call: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: as the test wants it, ${call} '${path}'`), {
    code,
    syscall: call,
    path,
  });
}
