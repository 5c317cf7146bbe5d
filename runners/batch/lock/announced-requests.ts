import { basename, dirname } from 'node:path';
import * as z from 'zod';
import type { Disk, DiskFile } from '../disk/disk.js';
import { readUpTo } from '../disk/read-file.js';
import { elsewherePath, elsewhereSchema, readElsewhere } from '../journal/elsewhere.js';
import { isSameService, nameOf, type Hosts } from './bought-note.js';
import type { HoldPlaceOptions } from './hold-place.js';
import { KeyCounts, KeyFile, requestKey, takenBack } from './key-file.js';
import { isGone, isSameHost, LockError, ownerSchema, thisHost, usualFolders, type Owner } from './owner.js';
import { farByte, nothingHeld, tryLockFile, withFileLock, type FileLock } from './try-lock-file.js';

/** What a start is about to send. */
export interface AnnouncedStart extends Hosts {
  readonly requests: AnnouncedRequests;
  /** The runs that had ended when it was checked: see `endedRuns`. */
  readonly ended: ReadonlySet<string>;
}

/** Requests by `requestKey`: both halves side by side. */
interface AnnouncedRequests {
  readonly length: number;
  chunks(): AsyncIterable<Uint32Array>;
}

/** The most that the first line of a run's file takes. */
const headBytes = 1 << 16;
/** How long a start waits for others that announce their requests, in ms; that takes some ms. */
const patienceMs = 5_000;
/** Files of ended runs are kept for starts that were checked before, and wait for an answer. */
const keptMs = 24 * 3_600_000;

/** The first line of a run's file. */
const headSchema = ownerSchema.extend({ folder: z.string(), baseUrl: z.string(), lbBaseUrl: z.string() });

interface RunBeside {
  readonly path: string;
  readonly head: z.infer<typeof headSchema>;
  /** Its file was put aside. */
  readonly isAside: boolean;
  readonly file: DiskFile;
  /** The requests that were announced and not taken back. */
  readonly announced: KeyCounts;
  /** How far its file was read. */
  read: number;
}

interface OwnFile {
  readonly path: string;
  readonly lock: FileLock;
  readonly keys: KeyFile;
}

/**
 * The requests that a run may send, in a file of the user's state folder: those of a manifest before the first is sent, and each that
 * arrives when it arrives. The file counts while its process lives, which holds a lock on it, or workers have rows of the run. A run
 * first adds to its own file and then reads those of others, one run after another: of two that would send one request the second stops.
 */
export class Announcements {
  /** By the paths of their files. `undefined` if one cannot be read, or does not matter. */
  readonly #others = new Map<string, RunBeside | undefined>();
  #own: OwnFile | undefined;
  #hosts: Hosts = { baseUrl: '', lbBaseUrl: '' };
  #done: Promise<unknown> = Promise.resolve();
  readonly #states: readonly string[];

  constructor(
    private readonly folder: string,
    private readonly parts: HoldPlaceOptions,
  ) {
    this.#states = parts.stateFolders ?? usualFolders();
  }

  /**
   * Announces the requests of a start, before the first is sent.
   *
   * @throws {LockError} `held` if another run is about to send one of them, or has announced it since the start was checked
   */
  begin({ requests, ended, baseUrl, lbBaseUrl }: AnnouncedStart): Promise<void> {
    this.#hosts = { baseUrl, lbBaseUrl };
    return this.#alone(async () => {
      this.#own = await this.#create();
      try {
        for await (const chunk of requests.chunks()) this.#append(chunk);
        await this.#refuseStart(requests, ended);
      } catch (error) {
        // It sends nothing, so nobody must compare its requests.
        await this.#leave((path) => this.parts.disk.unlink(path));
        throw error;
      }
      await this.#removeOld();
    });
  }

  /**
   * Announces a row that has arrived, before it is sent.
   *
   * @param hash identifies what it asks for
   * @throws {LockError} `held` if another run has announced the same
   */
  add(id: string, hash: string): Promise<void> {
    const { high, low } = requestKey(hash);
    const added = this.#done.then(() => this.#add(id, high, low));
    this.#done = added.catch(() => undefined);
    return added;
  }

  /** Takes back a row that has ended and cost nothing: it may be given to another run. */
  takeBack(hash: string): void {
    const { high, low } = requestKey(hash);
    this.#append(Uint32Array.of(high, low | takenBack));
  }

  async release(): Promise<void> {
    await this.#done;
    await this.#forgetOthers();
    const { disk } = this.parts;
    // Workers go on without this process: what they may send stays announced.
    const areOthersAtWork = (await databaseWithRows(disk, this.folder)) !== undefined;
    await this.#leave(async (path) => {
      if (!areOthersAtWork) await putAside(disk, path);
    });
  }

  async #leave(leave: (path: string) => Promise<void>): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    await leave(own.path).catch(() => undefined);
    own.keys.close();
    await own.lock.release();
  }

  async #add(id: string, high: number, low: number): Promise<void> {
    const isAlone = ![...this.#others.values()].some((run) => run !== undefined);
    if (isAlone) {
      this.#append(Uint32Array.of(high, low));
      // A run that begins from now on reads this row.
      if (!this.#hasOthers()) return;
    }
    await this.#alone(async () => {
      if (!isAlone) this.#append(Uint32Array.of(high, low));
      for (const run of await this.#readOthers()) {
        if (!run.announced.has(high, low) || (await this.#whoSends(run)) === undefined) continue;
        this.#append(Uint32Array.of(high, low | takenBack));
        throw sentBeside(run.head, id);
      }
    });
  }

  async #refuseStart(requests: AnnouncedRequests, ended: AnnouncedStart['ended']): Promise<void> {
    if (requests.length === 0) return;
    for (const run of await this.#readOthers(ended)) {
      if (!(await haveShared(requests, run.announced))) continue;
      const { head } = run;
      const sender = await this.#whoSends(run);
      if (sender === 'process') throw sentElsewhere(head);
      if (sender !== undefined) throw sentByWorkers(head.folder, sender.database);
      if (!ended.has(nameIn(run.path))) throw sentMeanwhile(head.folder);
    }
    await this.#forgetOthers();
  }

  /** Runs do this one after another. If the lock cannot be taken, or another run hangs, it is done all the same. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const { disk, tryLock } = this.parts;
    const [state = ''] = this.#states;
    let isAlone = false;
    const begin = (): Promise<T> => {
      isAlone = true;
      return work();
    };
    await disk.mkdir(sendingIn(state)).catch(() => undefined);
    const locked = withFileLock(`${sendingIn(state)}/.lock`, begin, { tryLock, patienceMs });
    return locked.catch((fault: unknown) => {
      if (isAlone) throw fault;
      return work();
    });
  }

  /** Creates the run's file in the first folder that can be written. It is locked before others see it. */
  async #create(): Promise<OwnFile | undefined> {
    const { disk, tryLock, owner } = this.parts;
    const name = nameOf([this.folder, owner.pid, owner.started, process.hrtime.bigint()].join(' '));
    const head = Buffer.from(`${JSON.stringify({ ...owner, folder: this.folder, ...this.#hosts })}\n`);
    for (const state of this.#states) {
      const [path, hidden] = [`${sendingIn(state)}/${name}`, `${sendingIn(state)}/.${name}`];
      try {
        await disk.mkdir(sendingIn(state));
        const keys = new KeyFile(disk, hidden, head);
        const lock = await tryLock(hidden, farByte);
        await disk.rename(hidden, path);
        return { path, lock: lock ?? nothingHeld, keys };
      } catch {
        await disk.unlink(hidden).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** What cannot be written is not announced: `RunProgress` reports a folder that cannot be written. */
  #append(keys: Uint32Array): void {
    this.#own?.keys.add(keys);
  }

  /** Asked for each row that arrives, and so without a turn of the event loop. */
  #hasOthers(): boolean {
    return this.#states.some((state) => {
      try {
        const names = this.parts.disk.atOnce?.list(sendingIn(state)) ?? [];
        return names.some((name) => isName(name) && this.#mayMatter(state, name));
      } catch {
        return false;
      }
    });
  }

  #mayMatter(state: string, name: string): boolean {
    const path = `${sendingIn(state)}/${name}`;
    return path !== this.#own?.path && !(this.#others.has(path) && this.#others.get(path) === undefined);
  }

  async #otherPaths(folderIn = sendingIn): Promise<string[]> {
    const { disk } = this.parts;
    const paths = await Promise.all(this.#states.map((state) => filesIn(disk, folderIn(state))));
    return paths.flat().filter((path) => path !== this.#own?.path);
  }

  /**
   * Reads what other runs have announced since the last call.
   *
   * @param ended files that were put aside are read as well, except those of these runs. @defaultValue none of them is read
   */
  async #readOthers(ended?: AnnouncedStart['ended']): Promise<RunBeside[]> {
    const aside = ended === undefined ? [] : await this.#otherPaths(asideIn);
    const late = new Set(aside.filter((path) => ended?.has(nameIn(path)) === false));
    const paths = [...(await this.#otherPaths()), ...late];
    for (const [path, run] of this.#others) {
      if (paths.includes(path)) continue;
      this.#others.delete(path);
      await run?.file.close();
    }
    const runs: RunBeside[] = [];
    for (const path of paths) {
      const known = this.#others.has(path)
        ? this.#others.get(path)
        : await this.#open(path, late.has(path), ended);
      this.#others.set(path, known);
      if (known === undefined) continue;
      await known.announced.readOn(known).catch(() => undefined);
      runs.push(known);
    }
    return runs;
  }

  async #open(
    path: string,
    isAside: boolean,
    ended?: AnnouncedStart['ended'],
  ): Promise<RunBeside | undefined> {
    const { disk, owner } = this.parts;
    const file = await disk.open(path, 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    const found = await headOf(file);
    if (
      found !== undefined &&
      found.head.folder !== this.folder &&
      isSameHost(found.head.host, owner.host) &&
      isSameService(found.head, this.#hosts)
    ) {
      const run = { path, head: found.head, isAside, file, announced: new KeyCounts(), read: found.bytes };
      if (isAside || (await this.#whoSends(run)) !== undefined) return run;
      // Its process has died, which matters if that was after the check.
      if (ended?.has(nameIn(path)) === false) return { ...run, isAside: true };
    }
    await file.close();
    return undefined;
  }

  /** What goes on with a run: its process, or workers that have rows of it. If nothing does, its file is put aside. */
  async #whoSends({
    path,
    head,
    isAside,
  }: RunBeside): Promise<'process' | { readonly database: string } | undefined> {
    const { disk, tryLock } = this.parts;
    if (isAside) return undefined;
    if (await isRunning(path, head, tryLock)) return 'process';
    const database = await databaseWithRows(disk, head.folder);
    if (database !== undefined) return { database };
    await putAside(disk, path);
    return undefined;
  }

  async #forgetOthers(): Promise<void> {
    for (const run of this.#others.values()) await run?.file.close();
    this.#others.clear();
  }

  async #removeOld(): Promise<void> {
    const { disk } = this.parts;
    const isOld = (path: string): boolean => parseInt(basename(path), 10) < Date.now() - keptMs;
    for (const path of (await this.#otherPaths(asideIn)).filter(isOld))
      await disk.unlink(path).catch(() => undefined);
  }
}

/**
 * The runs that have ended, by the names of their files. Take it before the purchases of other runs are read: what they have announced
 * is known then, or was never bought.
 */
export async function endedRuns(disk: Disk): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  for (const state of usualFolders()) {
    for (const path of await filesIn(disk, asideIn(state))) ended.add(nameIn(path));
    for (const path of await filesIn(disk, sendingIn(state))) {
      const file = await disk.open(path, 'r').catch(() => undefined);
      const found = file && (await headOf(file).finally(() => file.close()));
      if (found !== undefined && !(await isRunning(path, found.head, tryLockFile))) ended.add(nameIn(path));
    }
  }
  return ended;
}

function sendingIn(state: string): string {
  return `${state}/sending`;
}

/** Where the files of runs are that have ended, with the time of their end in their names. */
function asideIn(state: string): string {
  return `${sendingIn(state)}/ended`;
}

async function putAside(disk: Disk, path: string): Promise<void> {
  const aside = asideIn(dirname(dirname(path)));
  await disk.mkdir(aside).catch(() => undefined);
  await disk.rename(path, `${aside}/${Date.now()}-${basename(path)}`).catch(() => undefined);
}

/** The name that a run's file has in both folders. */
function nameIn(path: string): string {
  return basename(path).replace(/^.*-/, '');
}

async function filesIn(disk: Disk, folder: string): Promise<string[]> {
  const names = await disk.list(folder).catch((): string[] => []);
  return names.filter(isName).map((name) => `${folder}/${name}`);
}

function isName(name: string): boolean {
  return /^(\d+-)?[0-9a-f]{32}$/.test(name);
}

/** `undefined` if the file has no such line. */
async function headOf(
  file: DiskFile,
): Promise<{ readonly head: z.infer<typeof headSchema>; readonly bytes: number } | undefined> {
  try {
    const bytes = Buffer.alloc(headBytes);
    const end = bytes.subarray(0, await readUpTo(file, bytes, 0)).indexOf('\n');
    return { head: headSchema.parse(JSON.parse(bytes.toString('utf8', 0, end))), bytes: end + 1 };
  } catch {
    return undefined;
  }
}

async function haveShared(requests: AnnouncedRequests, announced: KeyCounts): Promise<boolean> {
  for await (const chunk of requests.chunks())
    for (let at = 0; at < chunk.length; at += 2)
      if (announced.has(chunk[at] ?? 0, chunk[at + 1] ?? 0)) return true;
  return false;
}

/** Whether the process lives that has announced what is in this file. If its lock cannot be tried, it counts as ended. */
async function isRunning(path: string, head: Owner, tryLock: HoldPlaceOptions['tryLock']): Promise<boolean> {
  if (isGone(head, thisHost())) return false;
  const lock = await tryLock(path, farByte).catch(() => nothingHeld);
  await lock?.release();
  return lock === undefined;
}

/** The database from which workers may have rows of the run in this folder, if there is one. */
async function databaseWithRows(disk: Disk, folder: string): Promise<string | undefined> {
  // A run whose note is damaged is skipped; its own start reports it.
  const note = await readElsewhere(disk, folder, elsewhereSchema).catch(() => undefined);
  return note?.isOpen === true ? note.database : undefined;
}

function sentElsewhere({ folder, pid, started }: z.infer<typeof headSchema>): LockError {
  const message = `The run in ${folder} is running (process ${pid}, started ${started}), and sends rows that this start would send as well: they would be paid twice. Nothing was sent. Wait for its end, and start again: what it has bought is named then.`;
  return new LockError('held', message);
}

function sentBeside({ folder, pid, started }: z.infer<typeof headSchema>, id: string): LockError {
  const message = `The run in ${folder} is running (process ${pid}, started ${started}), and has sent the row ${JSON.stringify(id)}, or is about to, which arrived here as well: it would be paid twice. It was not sent, nor were the rows after it. Give these rows to one of the two runs only, or start again after the end of that one.`;
  return new LockError('held', message);
}

function sentMeanwhile(folder: string): LockError {
  const message = `The run in ${folder} went on while this start was checked, and may have bought rows that this start would buy as well. Nothing was sent. Start again: what it has bought is named then.`;
  return new LockError('held', message);
}

function sentByWorkers(folder: string, database: string): LockError {
  const message =
    `The run in ${folder} has not ended: its workers (${database}) may send rows that this start would send as well, and they would be paid twice. ` +
    `Nothing was sent. Start that run again with --db, and this one after its end: what it has bought is named then. If that database is lost, look at the account first, and remove ${elsewherePath(folder)}.`;
  return new LockError('held', message);
}
