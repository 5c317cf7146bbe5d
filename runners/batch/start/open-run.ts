import { lastValueFrom, type Subject } from 'rxjs';
import { createClient } from '../../../src/endpoints/create-client.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../disk/disk.js';
import { openImagesFolder } from '../artifacts/picture-name.js';
import { clearLeftovers } from '../disk/replace-file.js';
import { type Journal, journalPath } from '../journal/journal.js';
import { openLog } from '../log/open-log.js';
import { Projections } from '../sinks/projections.js';
import { readSummary } from '../sinks/summary-file.js';
import { BesidePolls } from '../context/beside-polls.js';
import { checkIdentity } from './check/check-identity.js';
import { checkManifest, type Checked } from './check/check-manifest.js';
import { newlySentText } from './check/newly-sent.js';
import { refuseLostJournal, repairLostJournal } from './check/examine-files.js';
import { findExpiring } from '../pictures/expiring-pictures.js';
import { hasSavedPictures } from '../pictures/has-saved-pictures.js';
import { JournalWriter } from '../context/journal-writer.js';
import { ledgerOf } from './money/ledger-of.js';
import { listenTo } from '../context/listen-to.js';
import { openDay } from './money/open-day.js';
import { openPollLaw, type PollLaw } from '../context/poll-law.js';
import { queuesOf } from '../context/queues-of.js';
import { recoverSent } from './recover-sent.js';
import { refuseStart } from './check/refuse-start.js';
import type { ResolvedOptions } from '../context/resolve-options.js';
import { refuseFolder, refuseOtherManifest } from './check/refuse-folder.js';
import type { RunEvent } from '../context/run-event.js';
import { RunJobIds } from '../context/run-job-ids.js';
import { BlockedEndpoints, type RunService } from '../context/purchase-context.js';
import type { Run } from '../context/run.js';
import { isHalted } from '../stop/is-halted.js';
import { ServiceReach } from '../stop/service-reach.js';
import { sheetsOf } from '../end/sheets-of.js';
import { slotsOf } from '../context/slots-of.js';
import { startRecords } from './start-records.js';
import type { Stops } from '../stop/stops.js';
import { takeUp } from './take-up.js';
import { holdingPictured } from './check/unknown-pictures.js';
import { Unreached } from '../stop/unreached.js';

/** What has been opened, to be closed in any case: last opened, first closed. */
export type Closers = (() => Promise<unknown>)[];

interface Opening {
  readonly options: ResolvedOptions;
  readonly stops: Stops;
  readonly events: Subject<RunEvent>;
  readonly closers: Closers;
}

/**
 * Checks the manifest against what earlier starts left, makes this process the only one of the run, brings its files up
 * to its journal, and takes up what is to be taken up again. Nothing is sent.
 *
 * @throws what keeps the run from starting: by `exitOf` it has an exit code.
 */
export async function openRun(opening: Opening): Promise<Run> {
  const { options, events, stops } = opening;
  const { disk, out } = options;
  await refuseFolder(disk, out);
  const isBegun = await hasBegun(disk, out);
  const early = isBegun ? await openJournal(opening) : undefined;
  const checked = await checkManifest(options, early, stops);
  const { plan, ahead } = checked;
  if (early !== undefined) refuseOtherManifest(options, early.recovered, ahead);
  events.next({ type: 'checked', plan, ahead });
  for (const message of newlySentText(ahead.newlySent))
    events.next({ type: 'warning', code: 'manifest', message });
  refuseStart(options, plan, ahead);
  if (!(await options.confirm(plan, ahead)))
    throw new MillraceError('usage', 'not started; nothing was sent');
  const journal = early ?? (await openJournal(opening));
  const isEmptied = (await openImagesFolder(disk, out)) && isBegun;
  return begin({ ...opening, options: await withKeptManifest(options) }, checked, { journal, isEmptied });
}

/** A manifest that is to be kept elsewhere is moved there now that nothing stands against the start, and read there. */
async function withKeptManifest(options: ResolvedOptions): Promise<ResolvedOptions> {
  const { keep, ...manifest } = options.manifest;
  if (keep === undefined) return options;
  await keep.move();
  return { ...options, manifest: { ...manifest, path: keep.path } };
}

/** The journal of a run that this process holds. */
interface HeldJournal extends Journal {
  /** Notes outside of the folder how far the run has come. */
  readonly noteProgress: () => Promise<void>;
}

async function openJournal({ options, events, closers }: Opening): Promise<HeldJournal> {
  const { out, identity, prices } = options;
  const held = await options.hold(out);
  closers.push(() => held.release());
  if (held.warning !== undefined) events.next({ type: 'warning', code: 'lock', message: held.warning });
  if (held.isInherited === true) await clearLeftovers(options.disk, out);
  const journal = await holdingPictured(options.disk, out, await soundJournal(options, closers));
  checkIdentity(journal.recovered.identity, identity, out);
  // A rehearsal may be copied: nothing is bought in it.
  const progress = identity.local ? undefined : held.progress;
  await progress?.check(journal.recovered.repairs, options.repair);
  const noteProgress = async (): Promise<void> => progress?.note();
  closers.splice(-1, 0, noteProgress);
  for (const { cost, ...row } of journal.recovered.highestReported) prices.observe(row, cost);
  return Object.assign(journal, { noteProgress });
}

/** A journal that is gone has begun a run as well, as long as its files are there. */
async function hasBegun(disk: Disk, out: string): Promise<boolean> {
  const names = [
    journalPath(out),
    ...['results.jsonl', 'failures.jsonl', 'costs.csv'].map((name) => `${out}/${name}`),
  ];
  const found = await Promise.all(names.map((name) => disk.stat(name)));
  return found.some((entry) => entry !== undefined);
}

/** The journal, once the files are known not to run ahead of it. */
async function soundJournal(options: ResolvedOptions, closers: Closers): Promise<Journal> {
  const { disk, out, repair, scheduler } = options;
  const open = async (): Promise<Journal> => {
    const journal = await options.journal(out);
    closers.push(() => journal.close());
    return journal;
  };
  const journal = await open();
  const isRepaired =
    repair && (await repairLostJournal({ disk, folder: out, journal }, () => scheduler.now()));
  if (isRepaired) await journal.close();
  const sound = isRepaired ? await open() : journal;
  await refuseLostJournal({ disk, folder: out, journal: sound });
  return sound;
}

async function begin(
  opening: Opening,
  checked: Checked,
  { journal, isEmptied }: { journal: HeldJournal; isEmptied: boolean },
): Promise<Run> {
  const { options, stops, events, closers } = opening;
  const { disk, out, scheduler, secrets } = options;
  const { plan, ahead, names } = checked;
  const now = (): number => scheduler.now();
  const log = await openLog({ disk, folder: out, now, secrets });
  closers.push(() => log.close());
  const covered = (await readSummary(disk, out))?.covers;
  const sheets = sheetsOf(options, checked);
  const projections = await Projections.open({ disk, folder: out, journal, covered, sheets });
  closers.push(() => projections.close());
  const host = await options.pictureHost?.(out);
  if (host !== undefined) closers.push(() => host.close());
  const pollLaw = await openPollLaw(options);
  const writer = new JournalWriter(journal);
  for (const record of startRecords(options, journal, ahead)) await lastValueFrom(writer.append(record));
  await journal.noteProgress();
  const reach = new ServiceReach(options.retries);
  const unreached = new Unreached({ now, log, events, stops, reach });
  const jobIds = new RunJobIds(journal);
  const { mode } = options.manifest.settings;
  const slots = slotsOf(options.concurrency, { plan, mode, scheduler });
  const context = { options, journal: writer };
  const beside = new BesidePolls({
    slots,
    stops,
    hasSeveralEndpoints: hasSeveralEndpoints(options, checked),
  });
  const day = await openDay(options, stops, journal);
  const sent = await recoverSent(context, checked);
  const taken = await takeUp(context, checked);
  await projections.catchUp();
  const expiring = await findExpiring({ journal, projections, download: options.download, now: now() });
  const ledger = ledgerOf(options, journal, taken.polled, ahead.cap);
  const rows = ahead.toSend + ahead.toPoll + ahead.toDownload + ahead.toHold + taken.polled.size;
  return {
    ...{ options, plan, ahead, pending: checked.pending, pollLaw, unreached, startedAt: now() },
    ...{ journal: writer, projections, stops, log, events },
    taken: { ...taken, ...sent },
    money: { ledger: day?.behind(ledger) ?? ledger, day, prices: options.prices },
    service: {
      ...{ reach, beside, jobIds, slots },
      ...hosts(options, pollLaw, { reach, slots, jobIds, unreached, beside }),
      blocked: new BlockedEndpoints(ahead.endpoints, plan.byKind.route > 0),
    },
    pictures: { names, host, expiring, warned: new Set() },
    isHalted: (counts) => isHalted(options.halt, rows, counts),
    lostPictures: isEmptied && (await hasSavedPictures(projections)),
    toDo: { rows: rowsToDo(checked, journal, taken) - sent.held.length },
  };
}

/** The same gate for all, watched: a run that is answered is not one that nothing gets through to. */
function hosts(
  options: ResolvedOptions,
  { schedule }: PollLaw,
  {
    reach,
    slots,
    jobIds,
    unreached,
    beside,
  }: Pick<RunService, 'reach' | 'slots' | 'jobIds' | 'beside'> & Pick<Run, 'unreached'>,
): Pick<RunService, 'queues' | 'routes'> {
  const { transport, scheduler, random, apiKey, baseUrl, lbBaseUrl, retries, timeoutMs } = options;
  const gate = listenTo(options.gate, {
    heard: ({ endpointId }) => reach.answered(endpointId),
    notHeard: ({ endpointId }) => reach.notAnswered(endpointId),
    observe: slots.observe,
    beside,
  });
  const client = createClient({
    ...{ transport: unreached.watch(transport), gate, scheduler, random, jobIds },
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
  });
  const retry = { maxRetries: retries };
  return {
    queues: queuesOf(client, options, schedule),
    routes: lbBaseUrl === undefined ? undefined : client.routes(lbBaseUrl, { retry, deadlineMs: timeoutMs }),
  };
}

/** The endpoints of rows that arrive are not known before. */
function hasSeveralEndpoints({ manifest }: ResolvedOptions, { plan, ahead }: Checked): boolean {
  const hosts = ahead.endpoints.length + (plan.byKind.route > 0 ? 1 : 0);
  return manifest.live !== undefined || hosts > 1;
}

/** Rows of the manifest without an outcome, and those of earlier manifests that are gone on with. */
function rowsToDo(
  { ahead, pending }: Checked,
  { recovered }: Journal,
  taken: { polled: ReadonlyMap<string, unknown>; downloaded: number },
): number {
  const elsewhere = [...recovered.pending.keys()].filter((id) => !pending.has(id)).length;
  const known = taken.polled.size + taken.downloaded;
  const seen = ahead.rows - ahead.ended;
  return seen + elsewhere + Math.max(known - ahead.toPoll - ahead.toDownload, 0);
}
