import type { Disk, DiskEntry } from '../disk/disk.js';
import { readLineBlocks, readLines, withFile } from '../disk/read-file.js';
import { elsewherePath, elsewhereSchema, readElsewhere } from '../journal/elsewhere.js';
import { journalPath } from '../journal/journal.js';
import { decodeRecord, field, hasGoodChecksum } from '../journal/line/record-line.js';
import type { IntentRecord, JournalRecord, OutcomeRecord, RecordOf } from '../journal/record.js';
import { RowOffsets } from '../journal/rows/hash-index.js';
import { isSameService, type Hosts } from './bought-note.js';
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

/** How the requests of two runs are compared. */
export interface ComparedRequests extends Hosts {
  /** The hashes of what a request buys, the one of all that it asks for first; none if it buys nothing. */
  hashesOf(sent: IntentRecord): readonly string[];
  /** Reads the heads of records: a `HeadScanner`. */
  readonly head: {
    readonly kind: string;
    readonly id: Parameters<RowOffsets['set']>[0];
    readonly line: Buffer;
    scan(bytes: Buffer, start: number, end: number): boolean;
    word(place: number): string;
  };
  readonly now: () => number;
}

interface RunBeside {
  readonly folder: string;
  readonly owner: Owner;
  /** Where the requests of the rows that it has sent are in its journal. */
  sent: RowOffsets;
  isSameService: boolean;
  /** Its latest start has ended: the process does something else, such as `settle`. */
  hasEnded: boolean;
  /** Its journal as it was read last, and how far. */
  journal?: DiskEntry;
  read: number;
  /** Rows that this run has sent as well, though the other one began before; what they ask for is still to be compared. */
  readonly both: Set<string>;
}

/**
 * What this run and others on this machine send while all of them go on, by their journals: a row that a second run has sent as
 * well would be paid twice. Runs that are begun meanwhile are found within half a second.
 */
export class SentBeside {
  /** The latest rows of this run: others may have sent them at the same moment. */
  readonly #own = new Map<string, readonly string[]>();
  /** What identifies the requests of the rows that have arrived and are not sent yet. */
  readonly #arrived = new Map<string, () => Promise<string>>();
  #runs: readonly RunBeside[] = [];
  #refusing: Promise<unknown> = Promise.resolve();
  #listedAt = -Infinity;

  constructor(
    private readonly folder: string,
    private readonly compared: ComparedRequests,
    private readonly parts: Parts & {
      /** The folders of all runs on which processes work. */
      readonly placesHeld: () => Promise<readonly (Owner & { readonly folder: string })[]>;
    },
  ) {}

  /** Call it with each record of this run that is durable. It matters only to runs that began before, which the first row has found. */
  note(record: JournalRecord): void {
    if (wasNotBought(record)) this.#own.delete(record.id);
    if (record.k !== 'intent') return;
    this.#arrived.delete(record.id);
    const before = this.#runs.filter((run) => this.#beganBefore(run));
    if (before.length === 0) return;
    remember(this.#own, record.id, this.compared.hashesOf(record));
    for (const { sent, both } of before) if (sent.of(record.id) > 0) both.add(record.id);
  }

  /**
   * Refuses a row that another run has sent. If both have sent the same row at one moment, the run that began later ends. Call it
   * when the row arrives, and once more right before it is sent: it may have waited for long.
   *
   * @param hashOf identifies the row's request, like the hashes of those that were sent. It is only called if another run has sent
   * a row of this id. @defaultValue the one of the row when it arrived
   * @throws {LockError} `held`
   */
  refuse(id: string, hashOf = this.#arrived.get(id)): Promise<void> {
    if (hashOf === undefined) return Promise.resolve();
    remember(this.#arrived, id, hashOf);
    const refused = this.#refusing.then(() => this.#refuse(id, hashOf));
    this.#refusing = refused.catch(() => undefined);
    return refused;
  }

  async #refuse(id: string, hashOf: () => Promise<string>): Promise<void> {
    const now = this.compared.now();
    if (Math.abs(now - this.#listedAt) >= listEveryMs) {
      this.#runs = await this.#list();
      this.#listedAt = now;
    }
    for (const run of this.#runs) {
      await this.#readOn(run).catch(() => undefined);
      if (run.hasEnded) continue;
      const sent = await this.#sentBy(run, id);
      const isSent = sent.length > 0 && sent.includes(await hashOf());
      const both = isSent ? undefined : await this.#sentByBoth(run);
      if (!isSent && both === undefined) continue;
      const owner = await processOf(run.folder, this.parts);
      if (owner === undefined) continue;
      throw sentBeside(run.folder, owner, isSent ? { id } : { id: both, isPaid: true });
    }
  }

  async #list(): Promise<RunBeside[]> {
    const { owner } = this.parts;
    const runs: RunBeside[] = [];
    for (const { folder, ...other } of await this.parts.placesHeld()) {
      if (folder === this.folder || !isSameHost(other.host, owner.host)) continue;
      const known = this.#runs.find((run) => run.folder === folder && run.owner.started === other.started);
      const isNew = { folder, owner: other, both: new Set<string>(), ...unread() };
      runs.push(known ?? isNew);
    }
    return runs;
  }

  async #readOn(run: RunBeside): Promise<void> {
    const { disk } = this.parts;
    const journal = await disk.stat(journalPath(run.folder));
    if (journal === undefined) return;
    // A repair writes it anew.
    if (journal.id !== run.journal?.id || journal.size < run.read) Object.assign(run, unread());
    if (journal.size === run.journal?.size) return;
    await withFile(disk, journalPath(run.folder), async (file) => {
      for await (const { bytes, offset } of readLineBlocks(file, { from: run.read })) {
        let start = 0;
        for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
          this.#take(run, { bytes, start, end }, offset + start);
          start = end + 1;
        }
        run.read = offset + start;
      }
    });
    run.journal = journal;
  }

  #take(
    run: RunBeside,
    { bytes, start, end }: { readonly bytes: Buffer; readonly start: number; readonly end: number },
    offset: number,
  ): void {
    const { head } = this.compared;
    if (!hasGoodChecksum(bytes, start, end) || !head.scan(bytes, start, end)) return;
    const record = (): JournalRecord => decodeRecord(head.line).record;
    if (head.kind === 'start' || head.kind === 'stop') run.hasEnded = head.kind === 'stop';
    if (head.kind === 'start') this.#takeStart(run, record() as RecordOf<'start'>);
    const isFailed = head.kind === 'outcome' && head.word(field.status) === 'failed';
    // It may be fed to another run.
    if (isFailed && wasNotBought(record())) run.sent.set(head.id, 0);
    if (head.kind === 'intent' && run.isSameService) {
      run.sent.set(head.id, offset);
      if (this.#own.size === 0 || !this.#beganBefore(run)) return;
      const { id } = record() as IntentRecord;
      if (this.#own.has(id)) run.both.add(id);
    }
  }

  #takeStart(run: RunBeside, { identity }: RecordOf<'start'>): void {
    run.isSameService = !identity.local && isSameService(identity, this.compared);
  }

  /** The hashes of what the run has bought under this id; none if it has bought nothing. */
  async #sentBy(run: RunBeside, id: string): Promise<readonly string[]> {
    const from = run.sent.of(id);
    if (from === 0) return [];
    return withFile(this.parts.disk, journalPath(run.folder), async (file): Promise<readonly string[]> => {
      for await (const { bytes } of readLines(file, { from })) {
        if (!hasGoodChecksum(bytes, 0, bytes.length)) break;
        const { record } = decodeRecord(bytes);
        return record.k === 'intent' && record.id === id ? this.compared.hashesOf(record) : [];
      }
      return [];
    }).catch(() => []);
  }

  async #sentByBoth(run: RunBeside): Promise<string | undefined> {
    for (const id of run.both) {
      const [hash] = this.#own.get(id) ?? [];
      if (hash !== undefined && (await this.#sentBy(run, id))[0] === hash) return id;
      run.both.delete(id);
    }
    return undefined;
  }

  #beganBefore({ owner }: RunBeside): boolean {
    return owner.started <= this.parts.owner.started;
  }
}

const listEveryMs = 500;
const mostRemembered = 1 << 14;
const newline = 0x0a;

function remember<T>(latest: Map<string, T>, id: string, value: T): void {
  latest.set(id, value);
  const [oldest] = latest.size > mostRemembered ? latest.keys() : [];
  if (oldest !== undefined) latest.delete(oldest);
}

function unread(): Pick<RunBeside, 'sent' | 'isSameService' | 'hasEnded' | 'read'> & { journal?: undefined } {
  return { sent: new RowOffsets(), isSameService: false, hasEnded: false, read: 0, journal: undefined };
}

/** The end of a row that cost nothing. */
function wasNotBought(record: JournalRecord): record is OutcomeRecord {
  return record.k === 'outcome' && record.status === 'failed' && record.error.paid === 'no';
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

/** @param isPaid this run has sent the row as well */
function sentBeside(
  folder: string,
  owner: Owner,
  { id, isPaid = false }: { readonly id: string | undefined; readonly isPaid?: boolean },
): LockError {
  const row = JSON.stringify(id);
  const what = isPaid
    ? `has sent the row ${row} at the same moment as this run: it may be paid twice. The rows that came next were not sent.`
    : `has sent the row ${row}, which arrived here as well: it would be paid twice. It was not sent, nor were the rows after it.`;
  const message = `The run in ${folder} is running (process ${owner.pid}, started ${owner.started}), and ${what} Give these rows to one of the two runs only, or start again after the end of that one.`;
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
