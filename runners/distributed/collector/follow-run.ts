import { isDeepStrictEqual } from 'node:util';
import { BehaviorSubject, filter, firstValueFrom, merge, skip, timer } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Run } from '../../batch/context/run.js';
import { higherCosts } from '../../batch/ledger/price-book.js';
import type { PaidRow } from '../../batch/row/task.js';
import { stopForFault } from '../../batch/stop/exit-of.js';
import { worstEnd } from '../../batch/stop/worst-end.js';
import { isCountedRight } from '../table/recall-run.js';
import { readRecordsAfter, type StoredRecord } from '../table/records.js';
import { vacuumRows } from '../table/rows.js';
import type { RunState } from '../table/run-state.js';
import { notePrices } from '../table/runs.js';
import { DatabasePutBack } from '../table/seats.js';
import type { Copied } from './copy-behind.js';
import { RecordCopier } from './copy-records.js';
import type { RemoteRun } from './remote-run.js';
import type { NoteKeeper } from './run-note.js';

const pageRecords = 1_000;
/** The minimum time between two looks at the database. */
const apartMs = 50;
/**
 * The time between looks while records arrive. Each look finds the records of many commits, because a notification for
 * each commit would wake all listeners …
 */
const busyMs = 200;
/** … and the time between looks while none arrive. Failures and the last end are notified. */
const idleMs = 1_000;
/** How often the position of the journal is noted and the space of deleted rows is freed. */
const noteMs = 2_000;
/** After this time without a record, the rows are counted. */
const standstillMs = 20_000;
/** How long another worker may take to get a seat after the last one was refused. */
const refusedMs = 3_000;

export interface Following extends NoteKeeper {
  readonly run: Run;
  readonly remote: RemoteRun;
  readonly isFed: () => boolean;
  readonly save: (row: PaidRow) => void;
  /** The columns whose values have caps, with the cap in USD. */
  readonly columns: readonly (readonly [column: string, capUsd: number])[];
}

/**
 * Copies the records of workers until no more can come: all rows have ended, or the run stops and no worker has a row.
 * Rows whose picture no worker saves go to `save`, at most as many as the picture pool holds.
 */
export async function followRun(following: Following): Promise<void> {
  const { run, remote, note, keepNote, isFed } = following;
  const { scheduler, downloads } = run.options;
  const saving$ = new BehaviorSubject(0);
  const count = (by: number) => saving$.next(saving$.value + by);
  const save = (row: Omit<PaidRow, 'free'>) => {
    count(1);
    following.save({ ...row, free: () => count(-1) });
  };
  const copier = new RecordCopier(run, remote, save);
  const prices = new HigherPrices(following);
  const reasons = new Set<string>();
  const standstill = new Standstill(following);
  const records = new NewRecords(following);
  let refusedSince: number | undefined;
  let notedAt = scheduler.now();
  for (;;) {
    // This order matters: every record that the state counts must be on a page.
    const wasFed = isFed();
    const state = await remote.look();
    obey(run, state);
    noteFull(following, state);
    noteTroubles(following, state, reasons);
    refusedSince = stopIfRefused(following, state, refusedSince);
    const page = await records.next();
    await copier.copy(page);
    await firstValueFrom(saving$.pipe(filter((rows) => rows <= 4 * downloads)));
    await prices.note();
    await standstill.look(state);
    const { position } = records;
    const isOver = position.collected >= state.seq && hasEnded(state, wasFed);
    if (position.collected > note().collected && (isOver || scheduler.now() - notedAt >= noteMs)) {
      notedAt = scheduler.now();
      await keepNote(position);
      // If this fails, only space is wasted.
      await vacuumRows(remote.database).catch(() => undefined);
    }
    if (isOver && state.stop === undefined) {
      // Rows that the database has forgotten never end.
      if (state.fed < remote.batches) throw new DatabasePutBack();
      await standstill.count();
    }
    if (isOver) break;
    if (page.length < pageRecords) await pause(following, page.length > 0 ? busyMs : idleMs);
  }
  for (const row of copier.end()) save(row);
}

/**
 * The records that the folder does not have yet. If the database is put back to an earlier state meanwhile, as by a standby that
 * lacks its last commits, it has other records from some number on: what follows would be copied behind a gap. So the last copied
 * record is read again with each page, in one query, and compared.
 */
class NewRecords {
  /** How far the folder has the records, once the latest page is copied. */
  position: Copied;
  private last: StoredRecord | undefined;

  constructor(private readonly following: Following) {
    const { collected, among } = following.note();
    this.position = { collected, among };
  }

  /** @throws {DatabasePutBack} */
  async next(): Promise<readonly StoredRecord[]> {
    const { run, remote } = this.following;
    const { collected } = this.position;
    const from = Math.max(collected - 1, 0);
    const read = await remote.ask(() =>
      readRecordsAfter(remote.database.pool, remote.run, from, pageRecords + 1),
    );
    const page = withoutOpenEnd(collected === 0 ? read : await this.behindLast(read));
    this.last = page.at(-1) ?? this.last;
    if (page.length > 0)
      this.position = { collected: this.last?.seq ?? collected, among: run.journal.records };
    return page;
  }

  /** If the last record differs, the run stops. Its folder keeps the position: the next start compares the database with it. */
  private async behindLast([last, ...behind]: readonly StoredRecord[]): Promise<readonly StoredRecord[]> {
    const isThere = last?.seq === this.position.collected && isDeepStrictEqual(last, this.last ?? last);
    if (isThere) return behind;
    const error = new DatabasePutBack();
    stopForFault(this.following.run.stops, error);
    await this.following.keepNote(this.position);
    throw error;
  }
}

/** An outcome whose row is sent again is copied together with the next record, which says so. */
function withoutOpenEnd(page: readonly StoredRecord[]): readonly StoredRecord[] {
  const last = page.at(-1);
  return last?.record.k === 'outcome' && !last.isLast ? page.slice(0, -1) : page;
}

/** A stopping run waits for the workers' requests on the wire. Workers take more rows until the stop is in the database. */
function hasEnded({ open, inFlight, stop }: RunState, wasFed: boolean): boolean {
  return inFlight === 0 && (stop !== undefined || (wasFed && open === 0));
}

/** Reports rows that were skipped because the cap of a value had no room. */
function noteFull({ run, columns }: Following, { full }: RunState): void {
  for (const { place, value, taken } of full) {
    const [column = '', capUsd = 0] = columns[place] ?? [];
    const message = run.money.full.add({ column, value, taken, cap: toMicroDollars(capUsd) });
    if (message !== undefined) run.events.next({ type: 'warning', code: 'value-cap', message });
  }
}

/** Reports once why workers have ended: others may go on. */
function noteTroubles({ run }: Following, { troubles }: RunState, reported: Set<string>): void {
  for (const { reason } of troubles) {
    if (reported.has(reason)) continue;
    reported.add(reason);
    run.events.next({ type: 'warning', code: 'workers', message: `A worker has ended: ${reason}` });
  }
}

function obey({ stops, service }: Run, { stop, blocked }: RunState): void {
  for (const [endpoint, message] of Object.entries(blocked)) service.blocked.add(endpoint, message);
  if (stop !== undefined && !stops.isStopping) stops.stop(stop);
}

/** Stops the run if the service has refused all of its workers. */
function stopIfRefused(
  { run: { stops, options } }: Following,
  { troubles, workers }: RunState,
  since: number | undefined,
): number | undefined {
  if (troubles.length === 0 || workers > 0 || stops.isStopping) return undefined;
  const now = options.scheduler.now();
  if (since === undefined || now - since < refusedMs) return since ?? now;
  const [first] = troubles;
  const end = worstEnd(troubles);
  if (first !== undefined) stops.stop({ ...first, ...end, leaves: ['open', 'accepted'] });
  return undefined;
}

/** Waits for the next look. */
async function pause({ run: { stops, options }, remote }: Following, forMs: number): Promise<void> {
  const stopping = stops.leaving$.pipe(skip(1));
  const woken = firstValueFrom(merge(remote.woken, timer(forMs, options.scheduler), stopping));
  await firstValueFrom(timer(apartMs, options.scheduler));
  await woken;
}

/** Counts the rows if nothing changes for a while, because rows that another program deleted never end. */
class Standstill {
  private seq = -1;
  private since = -Infinity;

  constructor(private readonly following: Following) {}

  /** @throws {MillraceError} `journal-io` */
  async look({ seq, open, inFlight }: RunState): Promise<void> {
    const now = this.following.run.options.scheduler.now();
    const isSame = seq === this.seq && open + inFlight > 0;
    this.seq = seq;
    if (isSame && now - this.since < standstillMs) return;
    this.since = now;
    if (isSame) await this.count();
  }

  /** Call this at the end as well: counts that another program has set to zero end a run before its rows. */
  async count(): Promise<void> {
    const { remote } = this.following;
    if (await remote.ask(() => isCountedRight(remote.database, remote.run))) return;
    throw new MillraceError(
      'journal-io',
      'Rows of this run, or their places in the queues, were deleted from the database by another program. What is known of each row is in its records: start again.',
    );
  }
}

/** Passes reported prices on to the workers if they are higher than those the workers have. */
class HigherPrices {
  private known = 0;

  constructor(private readonly following: Following) {}

  async note(): Promise<void> {
    const { run, remote } = this.following;
    const reported = higherCosts(run.money.prices.table().reported);
    const sum = reported.reduce((total, { highest }) => total + highest, 0);
    if (sum === this.known) return;
    this.known = sum;
    const prices = reported.map(({ kind, endpoint, resolution = '', highest: cost }) => ({
      kind,
      endpoint,
      resolution,
      cost,
    }));
    await remote.ask(() => notePrices(remote.database, remote.run, prices));
  }
}
