import type { Disk } from '../disk/disk.js';
import { readLines, withFile } from '../disk/read-file.js';
import { elsewherePath, elsewhereSchema, readElsewhere } from '../journal/elsewhere.js';
import { journalPath } from '../journal/journal.js';
import { isSameHost, LockError, readOwner, type Owner } from './owner.js';
import { runsSending, type ManifestOf, type NotePlace } from './runs-of-manifest.js';
import { nothingHeld, type TryLock } from './try-lock-file.js';

/** What a start is about to send, and the runs that were known to send it when it was checked. */
export interface SentFrom extends ManifestOf {
  /** @defaultValue what others have sent since is not compared */
  readonly senders?: Senders | undefined;
  /** The start has begun to send rows, and these come later. @defaultValue false */
  readonly hasBegun?: boolean;
}

interface Parts extends NotePlace {
  readonly owner: Owner;
  readonly tryLock: TryLock;
}

/** The runs that were about to send some requests, by their folders: the lengths of their journals. */
export type Senders = ReadonlyMap<string, number>;

/** Take it before the purchases of these runs are read. */
export async function sendersOf(place: NotePlace, from: ManifestOf): Promise<Senders> {
  const runs = await runsSending(place, from);
  return new Map(
    await Promise.all(runs.map(async ({ folder }) => [folder, await lengthIn(place, folder)] as const)),
  );
}

async function lengthIn({ disk }: NotePlace, folder: string): Promise<number> {
  return (await disk.stat(journalPath(folder)))?.size ?? 0;
}

/**
 * Refuses a start if another run is about to send the same rows: a running process of this machine, or workers, which
 * go on without the process that fed them. Processes on other machines cannot be checked. Also refuses it if such a run has gone on
 * and sent requests since the start was checked, even if it has ended: what it has bought meanwhile was not asked about.
 *
 * @param own the folder of the start
 * @throws {LockError} `held`
 */
export async function refuseSending(
  { senders, hasBegun = false, ...from }: SentFrom,
  own: string,
  parts: Parts,
): Promise<void> {
  const { disk } = parts;
  for (const { folder } of await runsSending(parts, from)) {
    if (folder === own) continue;
    const process = await processOf(folder, parts);
    if (process !== undefined) throw sentElsewhere(folder, process, hasBegun);
    const database = await databaseWithRows(disk, folder);
    if (database !== undefined) throw sentByWorkers(folder, database, hasBegun);
    if (senders !== undefined && (await hasBoughtSince(disk, folder, senders.get(folder) ?? 0)))
      throw sentMeanwhile(folder);
  }
}

/** Whether its journal has an intent behind this byte. Also true if it is shorter by now, or not at the end of a line there. */
async function hasBoughtSince(disk: Disk, folder: string, length: number): Promise<boolean> {
  const size = await lengthIn({ disk }, folder);
  if (size <= length) return size < length;
  return withFile(disk, journalPath(folder), async (file) => {
    const from = Math.max(length - 1, 0);
    for await (const { bytes, offset } of readLines(file, { from })) {
      const isCut = length > 0 && offset === from && bytes.length > 0;
      if (isCut || bytes.includes('"k":"intent"')) return true;
    }
    return false;
  });
}

/** The process of this machine that works on the run in this folder, if there is one. */
async function processOf(folder: string, { disk, owner, tryLock }: Parts): Promise<Owner | undefined> {
  const other = await readOwner(disk, folder);
  if (other === undefined || other === 'unreadable' || !isSameHost(other.host, owner.host)) return undefined;
  // If the lock cannot be tried, the other run counts as ended.
  const lock = await tryLock(`${folder}/.lock`).catch(() => nothingHeld);
  await lock?.release();
  return lock === undefined ? other : undefined;
}

/** The database from which workers may have rows of the run in this folder, if there is one. */
async function databaseWithRows(disk: Disk, folder: string): Promise<string | undefined> {
  // A run whose note is damaged is skipped; its own start reports it.
  const note = await readElsewhere(disk, folder, elsewhereSchema).catch(() => undefined);
  return note?.isOpen === true ? note.database : undefined;
}

/** What was not sent. */
function unsent(hasBegun: boolean): string {
  return hasBegun ? 'Rows from these on were not sent.' : 'Nothing was sent.';
}

function sentElsewhere(folder: string, owner: Owner, hasBegun: boolean): LockError {
  const message = `The run in ${folder} is running (process ${owner.pid}, started ${owner.started}), and sends rows that this start would send as well: they would be paid twice. ${unsent(hasBegun)} Wait for its end, and start again: what it has bought is named then.`;
  return new LockError('held', message, owner);
}

function sentMeanwhile(folder: string): LockError {
  const message = `The run in ${folder} went on while this start was checked, and may have bought rows that this start would buy as well. Nothing was sent. Start again: what it has bought is named then.`;
  return new LockError('held', message);
}

function sentByWorkers(folder: string, database: string, hasBegun: boolean): LockError {
  const message =
    `The run in ${folder} has not ended: its workers (${database}) may send rows that this start would send as well, and they would be paid twice. ` +
    `${unsent(hasBegun)} Start that run again with --db, and this one after its end: what it has bought is named then. If that database is lost, look at the account first, and remove ${elsewherePath(folder)}.`;
  return new LockError('held', message);
}
