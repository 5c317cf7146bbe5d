import { dirname } from 'node:path';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import { elsewhereSchema, readElsewhere } from '../../journal/elsewhere.js';
import { journalPath, type Journal } from '../../journal/journal.js';
import { JournalError } from '../../journal/journal-error.js';
import type { IntentRecord } from '../../journal/record.js';
import { boughtThere, type BoughtHashes, type PurchaseChanges } from '../../lock/bought-note.js';
import { LockError, whoHolds } from '../../lock/owner.js';
import { refuseEarlier, runIn } from '../../lock/run-progress.js';
import { otherRuns, type OtherRun, type StartOf } from '../../lock/runs-of-manifest.js';
import { SameTally } from '../../manifest/duplicates/same-requests.js';
import { firstOf } from '../../manifest/quote-value.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import { askedHash, hashesOf } from '../../manifest/request-hash.js';
import type { RowRecord } from '../../row/record-head.js';
import { isEnd, mayBePaid, type RowStatus } from '../../row/row-status.js';
import { readSummary } from '../../sinks/summary-file.js';
import type { Ahead } from './ahead.js';
import { type HashesByBytes, hashWithoutPictures } from '../../uploads/create-picture-host.js';
import {
  boughtOf,
  hashesSent,
  purchasesIn,
  tallied,
  uploadedBy,
  type Bought,
  type Sent,
} from './bought-before.js';
import { refuseBehind } from './examine-files.js';

/**
 * Like `boughtBefore`, for purchases of other runs: a command with another output folder or another manifest name would buy
 * everything again. Of a run whose journal is gone it compares what is noted outside of the run's folder.
 */
export async function boughtElsewhere(
  options: StartOf & Pick<ResolvedOptions, 'pictureHost'>,
  { runs, peekJournal, byBytes }: RunsToCompare,
  sent: Sent,
): Promise<Pick<Ahead, 'bought' | 'unread'>> {
  const hashes = new Map<string, readonly string[]>();
  const elsewhere: string[] = [];
  const gone: GoneRun[] = [];
  for await (const { isTooMuch, ...run } of runsToRead(options.disk, runs)) {
    const besides = isTooMuch && !run.isOwn ? undefined : await runIn(options.disk, run.folder);
    if (besides !== undefined) gone.push({ ...run, besides });
    if (besides !== undefined && run.isOwn) continue;
    if (isTooMuch) {
      gone.push({ ...run, isThere: true });
      continue;
    }
    let journal: Bought | undefined;
    const peek = async () => (journal = await peekJournal(options.disk, run.folder));
    const isDamaged = await isDamagedRun(options.disk, run.folder, peek);
    // A run that cannot be read counts as gone; its own start reports why.
    if (!isDamaged) journal ??= await peek().catch(() => undefined);
    if (isDamaged || journal === undefined) {
      gone.push({ ...run, isDamaged });
      continue;
    }
    const uploaded = options.pictureHost && (await uploadedBy(options.disk, run.folder, journal));
    const bought = await boughtOf(journal, sent, () => true, { asSent: !run.isBeside, byBytes, uploaded });
    for (const [hash, ids] of bought)
      if (ids.length >= (hashes.get(hash)?.length ?? 0)) hashes.set(hash, ids);
    if (bought.size > 0) elsewhere.push(run.folder);
  }
  const { lost, unread } = await lostRuns(options, gone);
  const mayBeBought = async (row: Row): Promise<boolean> => {
    const written = [...hashesOf(row)];
    const isNamed = lost.some(({ mayHaveUploaded }) => mayHaveUploaded?.(row, written));
    const uploaded = isNamed ? await byBytes.hashOf(row) : undefined;
    const hashes = { written, sent: [uploaded ?? askedHash(row)], uploaded };
    const runs = lost.filter(({ mayHave }) => mayHave(row, hashes));
    for (const run of runs) run.hasRows = true;
    return runs.length > 0;
  };
  const rows = await tallied(sent, hashes, lost.length > 0 ? mayBeBought : undefined, byBytes);
  const found = lost.filter(({ hasRows }) => hasRows);
  const folders = found.filter(({ isThere }) => !isThere);
  const [lostFirst] = folders;
  const there = found.filter(({ isThere }) => isThere);
  const bought = rows && {
    ...rows,
    elsewhere: [...new Set([...foldersOf(folders), ...elsewhere, ...foldersOf(there)])],
    ...(folders.length > 0 && { isLost: true }),
    ...(lostFirst?.isDamaged && { isDamaged: true }),
    ...(lostFirst?.besides !== undefined && { isReplaced: true }),
    ...(folders.some(({ isOwn }) => isOwn) && { isHere: true }),
  };
  return { ...(bought && { bought }), ...(unread.length > 0 && { unread }) };
}

function foldersOf(runs: readonly LostRun[]): string[] {
  return runs.map(({ folder }) => folder);
}

interface RunsToCompare {
  readonly runs: readonly OtherRun[];
  readonly peekJournal: PeekJournal;
  /** Compares pictures that are uploaded. */
  readonly byBytes: HashesByBytes;
}

/** Whether a start would refuse the journal of a run on which nobody works: it cannot be read, or lacks records that it had. */
async function isDamagedRun(
  disk: Disk,
  folder: string,
  peekJournal: () => Promise<Pick<Journal, 'recovered'> | undefined>,
): Promise<boolean> {
  try {
    if ((await whoHolds(disk, folder)) !== undefined) return false;
    const summary = await readSummary(disk, folder);
    const journal = await peekJournal();
    if (journal === undefined) return false;
    refuseBehind(folder, journal, summary);
    await refuseEarlier(disk, folder, journal.recovered.repairs);
    return false;
  } catch (error) {
    return error instanceof JournalError || error instanceof LockError;
  }
}

/** All runs. The journals of the latest are read, and those of earlier ones as long as that takes no second. */
async function* runsToRead(
  disk: Disk,
  runs: readonly OtherRun[],
): AsyncGenerator<OtherRun & { readonly isTooMuch: boolean }> {
  let left = mostBytesRead;
  for (const run of runs) {
    const { size = 0 } = (run.isEarlier && (await disk.stat(journalPath(run.folder)))) || {};
    if (size > 0) left -= Math.max(size, leastBytesRead);
    yield { ...run, isTooMuch: size > 0 && left <= 0 };
  }
}

/** For rows that are not known yet: whether the folder of the start had a run which has bought something, or may have, and is gone. */
export async function boughtHere(options: StartOf): Promise<Pick<Ahead, 'bought'>> {
  const runs = await otherRuns(options, undefined, {});
  const { lost } = await lostRuns(
    options,
    runs.filter(({ isOwn }) => isOwn),
  );
  const elsewhere = foldersOf(lost);
  if (elsewhere.length === 0) return {};
  return { bought: { ...new SameTally().result(), elsewhere, isLost: true, isHere: true } };
}

/** What a run has bought, or may have, for a start that finds its folder gone. */
export class RunPurchases {
  readonly isFirst: boolean;
  /** Not of a journal to which others write as well, nor if a purchase of an earlier start has changed. */
  areAllKnown: boolean;
  /** By the ids of the rows that this start has sent and that have not ended. */
  readonly #inFlight = new Map<string, BoughtHashes>();

  constructor(
    private readonly options: Pick<ResolvedOptions, 'disk' | 'out' | 'journal'>,
    { recovered }: Pick<Journal, 'recovered'>,
    private readonly peekJournal: PeekJournal,
    /** Notes what was bought, or may have been, and of that what was not after all. */
    private readonly note: (changes: PurchaseChanges) => void = () => undefined,
  ) {
    this.areAllKnown = options.journal === undefined;
    this.isFirst = this.areAllKnown && recovered.rows.size === 0;
  }

  /**
   * Takes a durable record of a row, which is in this state then.
   *
   * @returns what the row has asked for, if it has ended and cost nothing
   */
  take(record: RowRecord, status: RowStatus): string | undefined {
    const sent = this.#inFlight.get(record.id);
    if (record.k === 'intent') {
      if (sent !== undefined) return undefined;
      const hashes = hashesOfBoth(record);
      this.#inFlight.set(record.id, hashes);
      this.note({ bought: [hashes], refused: [] });
      return undefined;
    }
    if (sent !== undefined && !mayBePaid(status)) this.note({ bought: [], refused: [sent] });
    // It may have been bought by an earlier start, or before it was sent once more.
    const isOther = sent === undefined && !mayBePaid(status) && !this.isFirst;
    if (isOther || record.k === 'reopen' || record.k === 'freed') this.areAllKnown = false;
    if (isEnd(status) || !mayBePaid(status)) this.#inFlight.delete(record.id);
    return isEnd(status) && !mayBePaid(status) ? sent?.sent[0] : undefined;
  }

  /** `undefined` if it is not known: workers may go on, or the journal is so large that reading it would take long. */
  hashes(): Promise<readonly BoughtHashes[] | undefined> {
    return purchasesOf(this.options, this.peekJournal).catch(() => undefined);
  }
}

function hashesOfBoth(intent: IntentRecord): BoughtHashes {
  return { written: hashesSent(intent), sent: hashesSent(intent, { asSent: true }) };
}

async function purchasesOf(
  { disk, out }: Pick<ResolvedOptions, 'disk' | 'out'>,
  peekJournal: PeekJournal,
): Promise<BoughtHashes[] | undefined> {
  const { size = 0 } = (await disk.stat(journalPath(out))) ?? {};
  const isTooLarge = size > mostBytesRead;
  const journal = isTooLarge ? undefined : await peekJournal(disk, out);
  if (journal === undefined || (await readElsewhere(disk, out, elsewhereSchema))?.isOpen === true)
    return undefined;
  const bought: BoughtHashes[] = [];
  for await (const intent of purchasesIn(journal)) bought.push(hashesOfBoth(intent));
  return bought;
}

/** Reading this much takes less than a second. */
const mostBytesRead = 32 << 20;
/** A journal takes at least as long as this many bytes of a longer one. */
const leastBytesRead = 512 << 10;

/** So many purchases that are noted are compared within two seconds. */
const mostNoted = 1 << 22;

/** A run whose journal is gone or damaged, or is not read. */
interface GoneRun extends OtherRun {
  readonly isDamaged?: boolean;
  /** The journal is there, and reading it as well would take too long. */
  readonly isThere?: boolean;
  /** The id of another run that is in the folder now, and that is compared by its journal. */
  readonly besides?: string;
}

interface HashesOfRow extends BoughtHashes {
  /** By the bytes of its pictures. */
  readonly uploaded: string | undefined;
}

interface LostRun extends Pick<GoneRun, 'folder' | 'isOwn' | 'isDamaged' | 'isThere' | 'besides'> {
  readonly mayHave: (row: Row, hashes: HashesOfRow) => boolean;
  /**
   * Whether it has bought what is written in this way, or with other names of the pictures; with other pictures, it may be. Absent if
   * that is not known.
   */
  readonly mayHaveUploaded?: (row: Row, written: readonly string[]) => boolean;
  /** Set once it may have bought a row that no other run has. */
  hasRows?: true;
}

/**
 * What runs have bought whose journals are gone, because their folders were moved or removed, or their disk is not mounted, or
 * are not read. What is noted may not be whole. Then each row may have been bought: by the run in the folder of this start, or by
 * one of the latest that shares rows with it and whose disk does not seem to be mounted. Others are `unread`: old folders are
 * removed on purpose, too, and where another run is in the folder by now, a person was asked before it began.
 */
async function lostRuns(
  { disk, identity }: StartOf,
  gone: readonly GoneRun[],
): Promise<{ readonly lost: readonly LostRun[]; readonly unread: readonly string[] }> {
  const lost: LostRun[] = [];
  const unread: string[] = [];
  let left = mostNoted;
  for (const { isBeside, isRelated, ...run } of gone) {
    const { folder, isOwn, isDamaged = false, besides } = run;
    const noted = left > 0 || !run.isEarlier ? await boughtThere(disk, folder, identity, besides) : undefined;
    left -= noted?.size ?? 0;
    if (noted?.isWhole !== true && isRelated && (besides === undefined || noted !== undefined)) {
      const isGone = isOwn || isDamaged || (!run.isEarlier && (await isUnmounted(disk, folder)));
      if (isGone && besides === undefined) {
        lost.push({ ...run, mayHave: (row) => !isRead(row) });
        continue;
      }
      unread.push(folder);
    }
    if (noted === undefined || noted.size === 0) continue;
    const list = isBeside ? 'written' : 'sent';
    const has = (hash: string | undefined) => hash !== undefined && noted.has(hash, 'sent');
    const mayHaveUploaded = (row: Row, written: readonly string[]) =>
      has(hashWithoutPictures(row)) || written.some((hash) => noted.has(hash, 'written'));
    const mayHave = (row: Row, { uploaded, ...hashes }: HashesOfRow) =>
      !isRead(row) && (has(uploaded) || hashes[list].some((hash) => noted.has(hash, list)));
    lost.push({ ...run, mayHaveUploaded, mayHave });
  }
  return { lost, unread };
}

/** Whether the folder above is gone as well, or empty: more than this one run is missing. */
async function isUnmounted(disk: Disk, folder: string): Promise<boolean> {
  return (await disk.list(dirname(folder)).catch((): string[] => [])).length === 0;
}

/** A sentence about the runs whose purchases are not known. */
export function unreadText(folders: readonly string[] = []): string[] {
  if (folders.length === 0) return [];
  const named = firstOf(folders.slice(0, 3), folders.length);
  const [runs, whose, they] =
    folders.length === 1
      ? ['the run', 'whose journal is gone or cannot be read', 'it has']
      : [
          `${folders.length} runs`,
          'whose journals are gone, cannot be read or are too many to read',
          'they have',
        ];
  return [
    `rows of this manifest were in ${runs} in ${named}, ${whose}, and not all that ${they} bought is noted: other rows that ${they} bought are bought again`,
  ];
}

/** Reads the journal of another run. */
export type PeekJournal = (disk: Disk, folder: string) => Promise<Bought | undefined>;
