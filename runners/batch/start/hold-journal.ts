import { type Subject, type Subscription } from 'rxjs';
import type { Disk } from '../disk/disk.js';
import { artifactName, filesFolder, imagesFolder } from '../artifacts/artifact-name.js';
import type { DiskRoom } from '../disk/disk-room.js';
import { clearLeftovers, clearUnsaved } from '../disk/replace-file.js';
import { refuseElsewhere } from '../journal/elsewhere.js';
import { journalMoved } from '../journal/journal-error.js';
import { type Journal, journalPath, journalWith } from '../journal/journal.js';
import type { FolderHold } from '../lock/hold-run.js';
import type { ManifestOf } from '../lock/runs-of-manifest.js';
import { peekJournal } from '../journal/recovered-journal.js';
import type { RunIdentity } from '../journal/record.js';
import { JournalWriter } from '../context/journal-writer.js';
import { RunPurchases } from './check/bought-elsewhere.js';
import { checkIdentity } from './check/check-identity.js';
import type { Checked } from './check/check-manifest.js';
import { refuseLostJournal, repairLostJournal } from './check/examine-files.js';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { costByInForce, trackedColumns, type CostByChoices } from '../row/totals.js';
import { askedHash } from '../manifest/request-hash.js';
import { firstOf } from '../manifest/quote-value.js';
import { HashesByBytes } from '../uploads/create-picture-host.js';
import { isRead } from '../manifest/manifest-row.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { Run } from '../context/run.js';
import type { RunEvent } from '../context/run-event.js';
import type { Stops } from '../stop/stops.js';

/** Functions that close what was opened, called in reverse order in any case. */
export type Closers = (() => Promise<unknown>)[];

export interface Opening {
  readonly options: ResolvedOptions;
  readonly stops: Stops;
  readonly events: Subject<RunEvent>;
  readonly closers: Closers;
  readonly room: DiskRoom;
}

export type OpenJournal = (
  disk: Disk,
  folder: string,
  settings: {
    readonly repair: boolean;
    readonly now: () => number;
    readonly makeRoom: () => Promise<boolean>;
  } & CostByChoices,
) => Promise<Journal>;

/** What the journal of a start is opened with. */
export interface HoldPorts {
  /** Opens the journal in the run's folder, unless the options name another one. */
  readonly openJournal: OpenJournal;
  /** Brings the files up to date with the journal before a start is refused. */
  readonly updateFiles: (
    folder: Pick<ResolvedOptions, 'disk' | 'out' | 'scheduler'>,
    journal: JournalWriter,
  ) => Promise<void>;
}

export interface HeldJournal extends Journal {
  readonly identity: RunIdentity;
  /**
   * Notes outside of the folder how far the run has come, and announces there what this start sends.
   *
   * @param checked with samples of the manifest's rows: see `RowSample`
   * @throws {LockError} `held` if another run is about to send the same
   */
  readonly noteProgress: (checked: Pick<Checked, 'sample' | 'similar' | 'announced'>) => Promise<void>;
  /** Appends to the journal. What it makes durable is noted in the same way, at most every half second. */
  readonly writer: JournalWriter;
  readonly noteRows: Run['noteRows'];
  readonly announce: Run['announce'];
}

/**
 * Locks the run's folder and opens its journal.
 *
 * @param meanwhile called before the journal is opened, and awaited afterwards
 */
export async function holdJournal(
  { options, events, closers, room }: Opening,
  { openJournal, updateFiles }: HoldPorts,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<HeldJournal> {
  const { out, prices } = options;
  const held: FolderHold = await options.hold(out);
  closers.push(
    () => held.release(),
    () => room.close(),
  );
  if (held.warning !== undefined) events.next({ type: 'warning', code: 'lock', message: held.warning });
  if (held.isInherited === true) await clearLeftovers(options.disk, out);
  const done = meanwhile();
  // The folder of a rehearsal may be copied, because nothing is bought in it.
  const progress = options.identity.local ? undefined : held.progress;
  const journal = await holdingPictured(
    options.disk,
    out,
    await soundJournal({ options, closers, room }, progress, openJournal),
  );
  await done;
  const lost = options.repair ? await lostOutputs(journal) : undefined;
  if (lost !== undefined) events.next({ type: 'warning', code: 'journal', message: lost });
  refuseOtherColumns(options, journal);
  const identity = await identityOf({ options, events }, updateFiles, journal);
  // Only for a journal in the folder; any other kind checks this itself.
  if (options.journal === undefined) await refuseElsewhere(options.disk, out, journal.recovered);
  if (held.isInherited === true) await clearUnsaved(options.disk, out);
  await progress?.check(journal.recovered.repairs, options.repair);
  const { path } = options.manifest;
  const from = { manifest: path, baseUrl: identity.baseUrl, lbBaseUrl: identity.lbBaseUrl };
  let warned: string | undefined;
  const bought = new RunPurchases(options, journal, peekJournal, (changes) => progress?.noteChanges(changes));
  const note = async (rows: Pick<ManifestOf, 'sample' | 'similar'>, isEnd: boolean): Promise<void> => {
    const message = await progress?.note({ ...from, ...rows }, bought, isEnd);
    if (message !== undefined && message !== warned) events.next({ type: 'warning', code: 'lock', message });
    warned = message;
  };
  const meantime = notesOf(progress, options);
  const announcements = identity.local ? undefined : held.announcements;
  const noteProgress: HeldJournal['noteProgress'] = async ({ sample, similar, announced }) => {
    await announcements?.begin({ ...from, ...announced });
    await note({ sample, similar }, false);
  };
  const noteEnd = async (): Promise<void> => {
    await meantime.written();
    await note({}, true);
  };
  closers.splice(-1, 0, noteEnd);
  for (const { cost, ...row } of journal.recovered.highestReported) prices.observe(row, cost);
  const noteRows: HeldJournal['noteRows'] = async (rows) => progress?.noteRows({ ...from, ...rows });
  const noteDurable: ConstructorParameters<typeof JournalWriter>[1] = (record, status) => {
    if (progress === undefined) return;
    const unpaid = bought.take(record, status);
    if (unpaid !== undefined) announcements?.takeBack(unpaid);
    meantime.noteDurable();
  };
  const writer = new JournalWriter(journal, noteDurable);
  const announce = announcing({ options, closers }, announcements);
  return Object.assign(journal, { identity, writer, noteProgress, noteRows, announce });
}

/** Announces a row that has arrived. */
function announcing(
  { options: { manifest, out, pictureHost }, closers }: Pick<Opening, 'options' | 'closers'>,
  announcements: FolderHold['announcements'],
): HeldJournal['announce'] {
  if (manifest.live === undefined || announcements === undefined) return () => Promise.resolve();
  const byBytes = new HashesByBytes(pictureHost && (() => pictureHost(out)));
  closers.push(() => byBytes.close());
  return async (row) => {
    if (!isRead(row)) await announcements.add(row.id, (await byBytes.hashOf(row)) ?? askedHash(row));
  };
}

async function identityOf(
  { options, events }: Pick<Opening, 'options' | 'events'>,
  updateFiles: HoldPorts['updateFiles'],
  journal: Journal,
): Promise<RunIdentity> {
  try {
    const { identity, left } = await checkIdentity(journal, options.identity, options.out);
    for (const host of left) events.next({ type: 'warning', code: 'host', message: leftText(host) });
    return identity;
  } catch (error) {
    await updateFiles(options, new JournalWriter(journal));
    throw error;
  }
}

const noteEveryMs = 500;

/** The notes that are written while the run goes on. One that cannot be written is reported at the end. */
function notesOf(
  progress: FolderHold['progress'],
  { scheduler }: Pick<ResolvedOptions, 'scheduler'>,
): { readonly noteDurable: () => void; readonly written: () => Promise<void> } {
  let writing: Promise<void> | undefined;
  let timer: Subscription | undefined;
  let isOver = false;
  const schedule = (): void => {
    if (!isOver) timer ??= scheduler.schedule(write, noteEveryMs);
  };
  const write = (): void => {
    const done = (): void => {
      timer = undefined;
    };
    writing = progress?.noteFound().then(done, done);
  };
  return {
    noteDurable: schedule,
    async written() {
      isOver = true;
      timer?.unsubscribe();
      await writing;
    },
  };
}

/** The caps of values depend on sums that were added up when the journal was opened. */
function refuseOtherColumns(options: ResolvedOptions, { recovered }: Journal): void {
  const { costBy, tally, rows } = recovered;
  const wanted = trackedColumns(costByInForce(options, costBy));
  const isSame = JSON.stringify(wanted) === JSON.stringify(tally.columns);
  if (isSame || rows.size === 0) return;
  throw new InvalidOptionError('journal', 'must be opened with the `costBy` and `maxCostByUsd` of the run');
}

function leftText(host: string): string {
  return `Earlier starts of this run were against ${host}, which accepted nothing: from now on the run is against the host of this start.`;
}

/** Also true for a run that has lost its journal but not its files. */
export async function hasBegun(disk: Disk, out: string): Promise<boolean> {
  const names = [
    journalPath(out),
    ...['results.jsonl', 'failures.jsonl', 'costs.csv'].map((name) => `${out}/${name}`),
  ];
  const found = await Promise.all(names.map((name) => disk.stat(name)));
  return found.some((entry) => entry !== undefined);
}

/** Opens the journal and checks that the files are not ahead of it. */
async function soundJournal(
  { options, closers, room }: Pick<Opening, 'options' | 'closers' | 'room'>,
  progress: FolderHold['progress'],
  openFile: OpenJournal,
): Promise<Journal> {
  const { disk, out, repair, scheduler, costBy, maxCostByUsd } = options;
  const now = (): number => scheduler.now();
  const makeRoom = (): Promise<boolean> => room.giveUp();
  const openIn =
    options.journal ??
    ((folder: string) => openFile(disk, folder, { repair, now, makeRoom, costBy, maxCostByUsd }));
  const open = async (): Promise<Journal> => {
    const journal = await openIn(out);
    closers.push(() => journal.close());
    return journal;
  };
  const journal = await open();
  const lostBytes = repair ? ((await progress?.check(journal.recovered.repairs, true)) ?? 0) : 0;
  const finish = repair ? await repairLostJournal({ disk, folder: out, journal, lostBytes }, now) : undefined;
  if (finish !== undefined) await journal.close().then(finish);
  const sound = finish === undefined ? journal : await open();
  // Opening creates a missing journal. So if the folder was moved away meanwhile, this would be a new run.
  if (sound.recovered.repairs < (finish === undefined ? 0 : 1)) throw journalMoved(journalPath(out));
  await refuseLostJournal({ disk, folder: out, journal: sound });
  return sound;
}

const mostNamed = 20;

/**
 * A warning about paid rows whose output a repair could not restore, because both their reply and their line are lost.
 * `undefined` if there are none.
 */
async function lostOutputs(journal: Journal): Promise<string | undefined> {
  if (journal.recovered.repairs === 0) return undefined;
  let count = 0;
  const named: string[] = [];
  for await (const { id, reply, outcome, jobId = outcome?.purchase?.jobId } of journal.rowsIn([
    'completed',
  ])) {
    if (reply !== undefined) continue;
    count++;
    if (named.length < mostNamed)
      named.push(`"${id}"${jobId === undefined ? '' : ` (job ${JSON.stringify(jobId)})`}`);
  }
  if (count === 0) return undefined;
  return `${count} completed ${count === 1 ? 'row has' : 'rows have'} lost what the service answered, and ${count === 1 ? 'its line' : 'their lines'} in results.jsonl: ${firstOf(named, count)}. They are paid and are not sent again. While the service keeps a result, a manifest with the columns id, endpoint and jobId collects it in another --out, and buys nothing.`;
}

/**
 * The journal, which then also holds unknown rows whose picture is in the folder. A picture is saved after its row's intent, so
 * the journal has lost such a purchase: for example, an older backup of it was restored.
 */
async function holdingPictured(disk: Disk, folder: string, journal: Journal): Promise<Journal> {
  const { recovered } = journal;
  if (recovered.records === 0) return journal;
  const names = await unknownPictures(disk, folder, journal);
  if (names.size === 0) return journal;
  const hasPicture = (id: string): boolean =>
    [false, true].some((collides) => names.has(stemOf(artifactName({ id, format: '', collides }))));
  const mustHold = (id: string, row: number): boolean =>
    recovered.mustHold(id, row) || (recovered.rows.get(id) === undefined && hasPicture(id));
  return journalWith(journal, { recovered: { ...recovered, mustHold } });
}

/** Names of pictures that may belong to unknown rows. Most pictures are named after a known row and left out. */
async function unknownPictures(
  disk: Disk,
  folder: string,
  { recovered }: Journal,
): Promise<ReadonlySet<string>> {
  const names = [
    ...(await disk.list(`${folder}/${imagesFolder}`)),
    ...(await disk.list(`${folder}/${filesFolder}`)),
  ];
  const isUnknown = (stem: string): boolean => stem.includes('~') || recovered.rows.get(stem) === undefined;
  return new Set(names.map(stemOf).filter(isUnknown));
}

/** A file name without its extension. */
function stemOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}
