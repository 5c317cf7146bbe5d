import type { Disk } from '../disk/disk.js';
import { elsewherePath, elsewhereSchema, readElsewhere } from '../journal/elsewhere.js';
import { isSameHost, LockError, readOwner, type Owner } from './owner.js';
import { runsSending, type ManifestOf, type NotePlace } from './runs-of-manifest.js';
import type { FileLock, TryLock } from './try-lock-file.js';

interface Parts extends NotePlace {
  readonly owner: Owner;
  readonly tryLock: TryLock;
}

/**
 * Refuses a start if another run is about to send the same rows: a running process of this machine, or workers, which
 * go on without the process that fed them. Processes on other machines cannot be checked.
 *
 * @param own the folder of the start
 * @throws {LockError} `held`
 */
export async function refuseSending(from: ManifestOf, own: string, parts: Parts): Promise<void> {
  const { disk } = parts;
  for (const { folder } of await runsSending(parts, from)) {
    if (folder === own) continue;
    const process = await processOf(folder, parts);
    if (process !== undefined) throw sentElsewhere(folder, process);
    const database = await databaseWithRows(disk, folder);
    if (database !== undefined) throw sentByWorkers(folder, database);
  }
}

/** The process of this machine that works on the run in this folder, if there is one. */
async function processOf(folder: string, { disk, owner, tryLock }: Parts): Promise<Owner | undefined> {
  const other = await readOwner(disk, folder);
  if (other === undefined || other === 'unreadable' || !isSameHost(other.host, owner.host)) return undefined;
  const lock = await tryLock(`${folder}/.lock`).catch(() => nothingHeld);
  await lock?.release();
  return lock === undefined ? other : undefined;
}

/** If the lock cannot be tried, the other run counts as ended. */
const nothingHeld: FileLock = { release: () => Promise.resolve() };

/** The database from which workers may have rows of the run in this folder, if there is one. */
async function databaseWithRows(disk: Disk, folder: string): Promise<string | undefined> {
  // A run whose note is damaged is skipped; its own start reports it.
  const note = await readElsewhere(disk, folder, elsewhereSchema).catch(() => undefined);
  return note?.isOpen === true ? note.database : undefined;
}

function sentElsewhere(folder: string, owner: Owner): LockError {
  const message = `The run in ${folder} is running (process ${owner.pid}, started ${owner.started}), and sends rows that this start would send as well: they would be paid twice. Nothing was sent. Wait for its end, and start again: what it has bought is named then.`;
  return new LockError('held', message, owner);
}

function sentByWorkers(folder: string, database: string): LockError {
  const message =
    `The run in ${folder} has not ended: its workers (${database}) may send rows that this start would send as well, and they would be paid twice. ` +
    `Nothing was sent. Start that run again with --db, and this one after its end: what it has bought is named then. If that database is lost, look at the account first, and remove ${elsewherePath(folder)}.`;
  return new LockError('held', message);
}
