import type { CallbackListener, ListenForCallbacks } from '../context/called-back.js';
import { rowPlaces, type OpenService } from '../context/run-service.js';
import { hasBegun, holdJournal, type HeldJournal, type HoldPorts, type Opening } from './hold-journal.js';
import { openPolling } from '../context/learned-polling.js';
import { lastValueFrom } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { openImagesFolder } from '../artifacts/artifact-name.js';
import type { Journal } from '../journal/journal.js';
import { openLog } from '../log/open-log.js';
import type { Projections } from '../sinks/projections.js';
import { checkManifest, type Checked } from './check/check-manifest.js';
import { unreadText, type PeekJournal } from './check/bought-elsewhere.js';
import { saveKeptCheck } from './check/kept-check.js';
import { HashList, SpooledChunks } from './check/spooled-chunks.js';
import { usualFolders } from '../lock/owner.js';
import { newlySentText } from './check/newly-sent.js';
import { findExpiring } from '../pictures/expiring-pictures.js';
import { nothingNoted } from '../pictures/note-picture.js';
import { ledgerOf, recoverSent } from './recover-sent.js';
import { openDay } from './money/day-money.js';
import { refuseStart, refuseFolder, refuseOtherManifest } from './check/refuse-start.js';
import type { CheckAhead, ResolvedOptions } from '../context/resolved-options.js';
import type { Run } from '../context/run.js';
import { whyHalted } from '../stop/stop-causes.js';
import { openFilesAsked } from './files-asked.js';
import { openProjections } from './open-projections.js';
import { runMoney } from './money/run-money.js';
import { reopenRows } from './reopen-rows.js';
import { version } from '../../../src/contract/version.js';
import type { RecordOf } from '../journal/record.js';
import { askedAxes } from '../manifest/matrix/asked-axes.js';
import { costByInForce, isSameCostBy } from '../row/totals.js';
import type { Ahead } from './check/ahead.js';
import { newCap } from './money/cap-in-force.js';

/**
 * Checks the manifest against what earlier starts left, locks the run, brings its files up to date with its journal,
 * and reopens the rows that had ended and are continued. Nothing is sent.
 *
 * @param ports the implementations of the run's journal and service
 * @throws the reason why the run cannot start: `exitOf` gives its exit code.
 */
export async function openRun(opening: Opening, ports: RunPorts): Promise<Run> {
  const { options } = opening;
  const { disk, out } = options;
  const isBegun = await hasBegun(disk, out);
  const meanwhile = isBegun ? whileOpening(opening, ports.checkAhead) : undefined;
  await refuseFolder(disk, out);
  const listener = await listening(opening, ports);
  const early = meanwhile && (await holdJournal(opening, ports, meanwhile));
  try {
    return await startRun(opening, ports, { early, isBegun, listener });
  } catch (error) {
    if (early !== undefined) await ports.updateFiles(options, early.writer);
    throw error;
  }
}

async function startRun(
  opening: Opening,
  ports: RunPorts,
  {
    early,
    isBegun,
    listener,
  }: Pick<Begun, 'listener'> & { early?: HeldJournal | undefined; isBegun: boolean },
): Promise<Run> {
  const { options } = opening;
  const { disk, out } = options;
  const checked = await checkStart(opening, ports, early);
  const { ahead } = checked;
  const journal = early ?? (await holdJournal(opening, ports));
  const isEmptied = (await openImagesFolder(disk, out)) && isBegun;
  const kept = { ...opening, options: await withKeptManifest(options) };
  // Load the transport now, so that nothing is loaded between the intent of a row and its request.
  if (ahead.ended < ahead.rows || options.manifest.live !== undefined) await options.transport.load?.();
  const { openService, beforeRows } = ports;
  return begin(kept, checked, { journal, isEmptied, listener, openService, beforeRows });
}

/**
 * Checks the manifest, and asks about the price.
 *
 * @throws the reason why the start is refused
 */
async function checkStart(
  { options, events, stops, closers }: Opening,
  { peekJournal, beforeRows }: RunPorts,
  journal: Journal | undefined,
): Promise<Checked> {
  const newRequests = await requestsOf(options, closers);
  const checked = await checkManifest(options, journal, { stops, peekJournal, beforeRows, newRequests });
  const { plan, ahead } = checked;
  if (journal !== undefined) refuseOtherManifest(options, journal.recovered, ahead);
  events.next({ type: 'checked', plan, ahead });
  for (const message of [...newlySentText(ahead.newlySent), ...unreadText(ahead.unread)])
    events.next({ type: 'warning', code: 'manifest', message });
  refuseStart(options, plan, ahead);
  if (!(await options.confirm(plan, ahead)))
    throw new MillraceError('usage', 'not started; nothing was sent');
  return checked;
}

/** Lists of what a start sends, which are long, and so are kept in files. Absent for a rehearsal. */
async function requestsOf(
  { disk, identity }: ResolvedOptions,
  closers: Opening['closers'],
): Promise<(() => HashList) | undefined> {
  if (identity.local) return undefined;
  const folder = usualFolders().at(-1) ?? '';
  const isThere = await disk.mkdir(folder).then(
    () => true,
    () => false,
  );
  return () => {
    const spool = new SpooledChunks(disk, `${folder}/requests-${process.pid}-${process.hrtime.bigint()}`);
    closers.push(() => spool.close());
    return new HashList(2, isThere ? spool : undefined);
  };
}

/**
 * Prepares work to be done while the journal is opened. The returned function begins it, and resolves at its end. The
 * work is aborted when the start ends, before another process can hold the run, or when the start is to stop; nothing
 * is kept then.
 */
function whileOpening(
  { options, stops, closers }: Opening,
  checkAhead: CheckAhead = () => Promise.resolve(),
): () => Promise<void> {
  const leaving = new AbortController();
  let begin = (): void => undefined;
  const held = new Promise<void>((resolve) => (begin = resolve));
  const stopping = stops.stopping$.subscribe(() => leaving.abort());
  const done = checkAhead(options, leaving.signal, held).finally(() => stopping.unsubscribe());
  const end = () => {
    leaving.abort();
    return done;
  };
  closers.push(end);
  return () => {
    closers.push(end);
    begin();
    return done;
  };
}

/** The port for callbacks is open before anything is sent. */
async function listening(
  { options, closers }: Opening,
  { listen }: RunPorts,
): Promise<CallbackListener | undefined> {
  const { webhooks } = options;
  if (webhooks === undefined) return undefined;
  const listener = await listen(webhooks);
  closers.push(() => listener.close());
  return listener;
}

/** Moves the manifest to where it is to be kept, once nothing prevents the start, and reads it from there. */
async function withKeptManifest(options: ResolvedOptions): Promise<ResolvedOptions> {
  const { keep, ...manifest } = options.manifest;
  if (keep === undefined) return options;
  await keep.move();
  return { ...options, manifest: { ...manifest, path: keep.path } };
}

/** The implementations that a run uses, chosen where it is wired. */
export interface RunPorts extends HoldPorts {
  readonly peekJournal: PeekJournal;
  /** Opens the service once the manifest is checked. */
  readonly openService: OpenService;
  /** Absent if nothing is to be done while the journal is opened. */
  readonly checkAhead?: CheckAhead;
  /** Called before rows are created, to make room in memory. */
  readonly beforeRows?: (() => void) | undefined;
  readonly listen: ListenForCallbacks;
}

/** What is open when the start is confirmed. */
interface Begun {
  readonly journal: HeldJournal;
  /** The run had begun, and its folder of pictures is gone. */
  readonly isEmptied: boolean;
  readonly listener: CallbackListener | undefined;
  readonly openService: OpenService;
  readonly beforeRows: RunPorts['beforeRows'];
}

async function begin(
  opening: Opening,
  checked: Checked,
  { journal, isEmptied, listener, openService, beforeRows }: Begun,
): Promise<Run> {
  const { options, stops, events, closers, room } = opening;
  const { disk, out, scheduler, secrets, download } = options;
  const [{ plan, ahead, names }, { writer }] = [checked, journal];
  const log = await openLog({ disk, folder: out, now: () => scheduler.now(), secrets });
  closers.push(() => log.close());
  const projections = await openProjections(opening, checked, { journal, beforeRows });
  const host = await options.pictureHost?.(out);
  if (host !== undefined) closers.push(() => host.close());
  const polling = await openPolling(options);
  for (const record of startRecords(options, journal, ahead)) await lastValueFrom(writer.append(record));
  await journal.noteProgress(checked);
  await saveKeptCheck(options, journal, checked);
  const context = { options, journal: writer };
  const day = await openDay(options, stops, journal);
  const sent = await recoverSent(context, checked);
  const reopened = await reopenRows(context, checked);
  const warn = (message: string): void => events.next({ type: 'warning', code: 'picture', message });
  const paths = await openFilesAsked(options, writer, { rows: reopened.forFiles?.rows ?? 0, warn });
  await projections.catchUp();
  const expiring = await findExpiring({ journal, projections, download, now: scheduler.now() });
  const ledger = ledgerOf(options, journal, reopened.polled, ahead.cap);
  const callbacks = await listener?.begin({ options, journal, log, events, stops });
  const places = rowPlaces(options, checked, journal);
  callbacks?.useJobIds(places.jobIds);
  const schedule = callbacks?.poll(polling.schedule) ?? polling.schedule;
  const service = openService(options, places, { schedule, log, events, stops });
  room.rows = () => service.slots.limit;
  const rows = ahead.toSend + ahead.toPoll + ahead.toDownload + ahead.toHold + reopened.polled.size;
  return {
    options,
    plan,
    ahead,
    pending: checked.pending,
    polling,
    startedAt: scheduler.now(),
    journal: writer,
    projections,
    stops,
    log,
    events,
    reopened: { ...reopened, ...sent },
    day,
    money: runMoney({ ...opening, log }, checked, { journal, ledger, day }),
    service,
    room,
    callbacks,
    pictures: { names, paths, areSaved: true, host, expiring, ...nothingNoted() },
    mustHold: journal.recovered.mustHold,
    noteRows: journal.noteRows,
    announce: journal.announce,
    whyHalted: (outcome) => whyHalted(options, { rows, start: writer.tally.thisStart, outcome }),
    lostPictures: isEmptied && (await hasSavedPictures(projections)),
    toDo: { rows: rowsToDo(checked, journal, reopened) - sent.held.length },
  };
}

/** Rows of the manifest without an outcome, and rows of earlier manifests that are continued. */
function rowsToDo(
  { ahead, pending }: Checked,
  { recovered }: Journal,
  reopened: { polled: ReadonlyMap<string, unknown>; downloaded: number },
): number {
  const elsewhere = [...recovered.pending.keys()].filter((id) => !pending.has(id)).length;
  const known = reopened.polled.size + reopened.downloaded;
  const seen = ahead.rows - ahead.ended;
  return seen + elsewhere + Math.max(known - ahead.toPoll - ahead.toDownload, 0);
}

/** Whether the folder should have a picture of an earlier start. */
async function hasSavedPictures(projections: Pick<Projections, 'files'>): Promise<boolean> {
  for await (const { path } of projections.files.pictures()) if (path !== undefined) return true;
  return false;
}

/** A new cap comes first, so that no start is journalled without its cap if the process dies in between. */
function startRecords(
  options: ResolvedOptions,
  { identity, recovered }: Pick<HeldJournal, 'recovered' | 'identity'>,
  { cap }: Pick<Ahead, 'cap'>,
): readonly (RecordOf<'cap'> | RecordOf<'cost-by'> | RecordOf<'start'>)[] {
  const { manifest, settings: given } = options;
  const at = options.scheduler.now();
  const usd = newCap(options, recovered.capUsd);
  const costBy = costByInForce(options, recovered.costBy);
  const axes = askedAxes(manifest.settings);
  const settings = { ...given, ...(cap && { maxCostUsd: cap.usd }), ...(axes.length > 0 && { axes }) };
  return [
    ...(usd === undefined ? [] : [{ k: 'cap', at, usd } as const]),
    ...(isSameCostBy(costBy, recovered.costBy) ? [] : [{ k: 'cost-by', at, ...costBy } as const]),
    { k: 'start', at, version, identity, manifest: manifest.path, settings },
  ];
}
