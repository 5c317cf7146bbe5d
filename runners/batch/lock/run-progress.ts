import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { readUpTo, withFile } from '../disk/read-file.js';
import { journalPath } from '../journal/journal.js';
import {
  BoughtNote,
  isWhollyNoted,
  noteBought,
  type BoughtHashes,
  type PurchaseChanges,
} from './bought-note.js';
import type { HoldPlaceOptions } from './hold-place.js';
import { LockError, ownerSchema, readNote, usualFolders, writeNote } from './owner.js';
import { noteRun, type ManifestOf } from './runs-of-manifest.js';
import { farByte, type FileLock } from './try-lock-file.js';

/** The first `start` record of a journal is within this many bytes. */
const headBytes = 64 << 10;
const tailBytes = 4 << 10;

const progressSchema = ownerSchema.extend({
  folder: z.string(),
  /** The length of the journal, and the hash of the bytes before that: every later state of the journal has these bytes. */
  bytes: z.int(),
  tail: z.string(),
  /** Number of repairs: each rewrites the journal. */
  repairs: z.int(),
});

/** What a run has bought, or may have. */
interface Purchases {
  /** The run has no rows of earlier starts. */
  readonly isFirst: boolean;
  /** Whether all that this start has bought, and all that was not bought after all, was noted with `noteChanges`. */
  readonly areAllKnown: boolean;
  /** All that the run has bought; `undefined` if that is not known. */
  hashes(): Promise<readonly BoughtHashes[] | undefined>;
}

/**
 * How far a run has come, noted in a locked file outside of its folder, under an id from the journal's first start. A copy of
 * the folder has the same id, so it cannot run at the same time as the original, or after the original has continued. A note is
 * never removed, because a backup of the folder may be restored at any time. There is one note of some hundred bytes for each
 * run, and none for rehearsals.
 */
export class RunProgress {
  #lock: FileLock | undefined;
  #path: string | undefined;
  #repairs = 0;
  #isNoted = false;
  /** The length of the journal before this start. */
  #before = 0;
  #bought: BoughtNote | undefined;
  /** There were purchases before `#bought`. */
  #isBehind = false;
  /** What this start has noted last. */
  #noted: JournalEnd | undefined;
  #found: JournalEnd | undefined;

  constructor(
    private readonly folder: string,
    private readonly options: HoldPlaceOptions,
  ) {}

  /**
   * Locks the run's id and compares the journal with the note.
   *
   * @param repairs how often the journal was repaired
   * @param isRepair whether this start was asked to repair: it may then continue with an older journal in its own folder
   * @returns how many bytes the journal lacks, at least; 0 unless `isRepair`
   * @throws {LockError} `held`; `copied` if the run has continued without this journal
   */
  async check(repairs: number, isRepair: boolean): Promise<number> {
    this.#repairs = repairs;
    const { disk } = this.options;
    const here = await journalIn(disk, this.folder);
    if (here === undefined) return 0;
    this.#before = here.size;
    const path = await this.#take(here.id);
    if (path === undefined) return 0;
    const earlier = await noteOfLater(disk, this.folder, { path, here, repairs });
    if (earlier === undefined) return 0;
    if (earlier.isOwn && isRepair) return Math.max(earlier.note.bytes - here.size, 1);
    await this.release();
    throw laterText(this.folder, path, earlier);
  }

  /**
   * Writes the note. Call it when the journal is durable.
   *
   * @param from the manifest: a start of it with another folder finds this run through the note
   * @param bought what the run has bought
   * @param isEnd whether it is the end of a start, which buys nothing more
   * @returns what is not protected if the note cannot be written, for example on a full disk; `holdPlace` reports that no folder
   *   can be written
   */
  async note(from: ManifestOf, bought: Purchases, isEnd: boolean): Promise<string | undefined> {
    const end = await this.#end();
    if (end === undefined) return undefined;
    const path = await this.#take(end.id);
    if (path === undefined) return undefined;
    const folder = await this.options.disk.realPath(this.folder);
    const { disk, owner } = this.options;
    const run = { ...from, folder, at: owner.started, run: end.id, bytes: end.bytes };
    const state = dirname(dirname(path));
    const isNoted = this.#isNoted || (await noteRun(disk, state, run));
    this.#isNoted = true;
    let isListed = true;
    if (this.#bought === undefined) {
      const isWhole = bought.isFirst || (await isWhollyNoted(disk, state, { ...run, bytes: this.#before }));
      isListed = await noteBought(disk, state, run, undefined);
      this.#bought = new BoughtNote(disk, state, folder, isWhole && isListed && !this.#isBehind);
    }
    if (isEnd && !(bought.areAllKnown && (await this.#bought.close(end.bytes))))
      isListed = await noteBought(disk, state, run, await bought.hashes());
    return (await this.#write(path, folder, end)) && isNoted && isListed ? undefined : unnoted(folder, path);
  }

  /** Notes what was bought, also if the folder was moved. Call it before the requests leave. */
  noteChanges(changes: PurchaseChanges): void {
    if (this.#bought === undefined) this.#isBehind = true;
    this.#bought?.add(changes);
  }

  /**
   * Writes the note while the run goes on, which may be killed: a backup of the folder from before its last rows is then refused.
   * Call it when a record has become durable. It notes the end that the previous call found, which is durable by then.
   */
  async noteFound(): Promise<void> {
    const found = this.#found;
    this.#found = await this.#end();
    if (this.#path === undefined || found === undefined || this.#found === undefined) return;
    await this.#write(this.#path, await this.options.disk.realPath(this.folder), found);
  }

  /** Notes more of the run's rows, which a manifest in another folder may have, too. Call it after `note`. */
  async noteRows(from: ManifestOf): Promise<void> {
    if (this.#path === undefined) return;
    const { disk, owner } = this.options;
    const folder = await disk.realPath(this.folder);
    await noteRun(disk, dirname(dirname(this.#path)), { ...from, folder, at: owner.started });
  }

  /** `undefined` also if the journal lacks what was noted: it was replaced meanwhile, and the note about it stays. */
  async #end(): Promise<JournalEnd | undefined> {
    const { disk } = this.options;
    const here = await journalIn(disk, this.folder).catch(() => undefined);
    if (here?.isWhole !== true) return undefined;
    if (this.#noted !== undefined && !(await continues(disk, this.folder, here, this.#noted)))
      return undefined;
    return { id: here.id, bytes: here.size, tail: await tailOf(disk, this.folder, here.size) };
  }

  #write(path: string, folder: string, { id, ...end }: JournalEnd): Promise<boolean> {
    const { disk, owner } = this.options;
    this.#noted = { id, ...end };
    return writeNote(disk, path, { ...owner, folder, ...end, repairs: this.#repairs });
  }

  /** Releases the lock; the note stays. */
  async release(): Promise<void> {
    await this.#lock?.release();
    this.#lock = undefined;
    this.#path = undefined;
  }

  /** Locks the file of the note and returns its path; `undefined` if no folder can be written, and the run does without it. */
  async #take(id: string): Promise<string | undefined> {
    if (this.#path !== undefined) return this.#path;
    const { disk, tryLock, stateFolders = usualFolders() } = this.options;
    for (const state of stateFolders) {
      const path = `${state}/runs/${id}.json`;
      const locked = disk.mkdir(`${state}/runs`).then(() => tryLock(path, farByte));
      const lock = await locked.catch(() => 'none' as const);
      if (lock === 'none') continue;
      if (lock === undefined) throw await heldAsCopy(disk, this.folder, path);
      this.#lock = lock;
      this.#path = path;
      return path;
    }
    return undefined;
  }
}

/**
 * Refuses a journal that a start would refuse, without a lock: no process may work on the run meanwhile.
 *
 * @throws {LockError} `copied`
 */
export async function refuseEarlier(disk: Disk, folder: string, repairs = 0): Promise<void> {
  const here = await journalIn(disk, folder);
  if (here === undefined) return;
  for (const state of usualFolders()) {
    const path = `${state}/runs/${here.id}.json`;
    const later = await noteOfLater(disk, folder, { path, here, repairs });
    if (later !== undefined) throw laterText(folder, path, later);
  }
}

/** The id of the run whose journal is in the folder. `undefined` if there is none. */
export async function runIn(disk: Disk, folder: string): Promise<string | undefined> {
  return (await journalIn(disk, folder).catch(() => undefined))?.id;
}

interface LaterNote {
  readonly note: z.infer<typeof progressSchema>;
  /** It is about the run in the same folder. */
  readonly isOwn: boolean;
}

/** The note about the run if it has continued without this journal. */
async function noteOfLater(
  disk: Disk,
  folder: string,
  { path, here, repairs }: { readonly path: string; readonly here: FoundJournal; readonly repairs: number },
): Promise<LaterNote | undefined> {
  const note = await readNote(disk, path, progressSchema).catch(() => undefined);
  if (note === undefined || note.repairs < repairs) return undefined;
  const isOwn = note.folder === (await disk.realPath(folder));
  const other = isOwn ? undefined : await journalIn(disk, note.folder);
  const isLater = await continues(disk, folder, here, note);
  return isLater && (other?.id !== here.id || other.size <= here.size) ? undefined : { note, isOwn };
}

function laterText(folder: string, path: string, { note, isOwn }: LaterNote): LockError {
  const message = isOwn
    ? `The journal in ${folder} is an earlier state of this run, which has continued since (${note.started}): what was bought ` +
      'then would be bought again. Nothing was sent. Put the latest state of the folder back. If that is lost, start the run with --repair: it holds every row that may have been bought.'
    : `The journal in ${folder} is a copy, or an earlier state, of a run that has continued in ${note.folder} since (${note.started}): what was bought ` +
      `there would be bought again. Nothing was sent. Continue in ${note.folder}. If that folder is lost, look at the account first, remove ${path}, and start again with --max-cost.`;
  return new LockError('copied', message);
}

interface FoundJournal {
  readonly id: string;
  readonly size: number;
  /** Whether it ends with a whole record. */
  readonly isWhole: boolean;
}

/** The end of a run's journal, as it is noted. */
interface JournalEnd extends Pick<z.infer<typeof progressSchema>, 'bytes' | 'tail'> {
  readonly id: string;
}

/** Whether a journal is a later state of the one that was noted, or the same. */
async function continues(
  disk: Disk,
  folder: string,
  { size }: FoundJournal,
  { bytes, tail }: Pick<JournalEnd, 'bytes' | 'tail'>,
): Promise<boolean> {
  return bytes <= size && (await tailOf(disk, folder, bytes)) === tail;
}

/** `undefined` if there is no journal, or no start in it. */
async function journalIn(disk: Disk, folder: string): Promise<FoundJournal | undefined> {
  const { size = 0 } = (await disk.stat(journalPath(folder))) ?? {};
  if (size === 0) return undefined;
  const head = (await bytesOf(disk, folder, 0, Math.min(size, headBytes))).toString('latin1');
  const start = head.indexOf('"k":"start",');
  const end = start < 0 ? -1 : head.indexOf('\n', start);
  if (end < 0) return undefined;
  const isWhole = (await bytesOf(disk, folder, size - 1, size)).toString() === '\n';
  return { id: hash(head.slice(0, end)), size, isWhole };
}

async function tailOf(disk: Disk, folder: string, end: number): Promise<string> {
  return hash((await bytesOf(disk, folder, Math.max(end - tailBytes, 0), end)).toString('latin1'));
}

function bytesOf(disk: Disk, folder: string, from: number, to: number): Promise<Buffer> {
  return withFile(disk, journalPath(folder), async (file) => {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, await readUpTo(file, bytes, from));
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 32);
}

function unnoted(folder: string, path: string): string {
  return (
    `What the run in ${folder} buys cannot be noted in ${dirname(dirname(path))}, which is full or may not be written: a start with another --out, or with a copy of the ` +
    'folder, would buy the same rows again and not be told. Make room there, or set XDG_STATE_HOME to a folder that can be written.'
  );
}

async function heldAsCopy(disk: Disk, folder: string, path: string): Promise<LockError> {
  const note = await readNote(disk, path, progressSchema).catch(() => undefined);
  const where = note === undefined ? 'another folder' : `${note.folder} (process ${note.pid})`;
  const message = `The run in ${folder} is a copy of the one in ${where}, which another process works on. Nothing was sent. Wait for its end, and continue there.`;
  return new LockError('held', message, note);
}
