import { MillraceError } from '../../src/contract/millrace-error.js';
import { isJobId } from '../../src/contract/request-parts.js';
import { toMicroDollars, maxPurchaseUsd } from '../../src/contract/micro-dollars.js';
import { appendAll, type RowRecords } from './journal/journal.js';
import { withFolder, type FolderOptions, type OpenFolder } from './start/open-folder.js';
import { openSharedLedger } from './start/money/day-money.js';
import {
  freedRecord,
  givenUp,
  type HeldAttempt,
  heldByRow,
  lastRecords,
  polled,
  polledAgain,
  toBeSent,
  type Written,
  undone,
} from './settle/settlement-records.js';
import { isHeld } from './row/left-rows.js';
import { rowsOfJobs } from './context/run-job-ids.js';
import type { Summary } from './sinks/summary-file.js';

/** How a held row is settled by hand. */
export type Settlement =
  /** It was accepted under this id: the next start polls it. */
  | { readonly jobId: string }
  /** It was accepted and cost this much, in US dollars; its result is given up. */
  | { readonly paidUsd: number }
  /** It never reached the service: the next start sends it. */
  | { readonly notSent: true }
  /** Undoes an earlier `jobId` or `notSent`: the row is held again. */
  | { readonly undo: true };

/** The settlement of one row. */
export interface RowSettlement {
  readonly id: string;
  readonly settlement: Settlement;
  /**
   * The attempt of an earlier purchase, for a row that was bought again since: settles the money held for it.
   * @defaultValue the row's latest purchase
   */
  readonly attempt?: number;
}

export interface SettleOptions extends FolderOptions {
  /** The attempt of an earlier purchase of the row, as in `RowSettlement`; `settleRows` takes it with each row. */
  readonly attempt?: number | undefined;
}

/**
 * Settles by hand a row that may have been bought. Sends nothing. A repeated settlement changes nothing.
 *
 * @returns the run's summary afterwards; `undefined` if the run has none yet
 * @throws {MillraceError} `usage` for a row that is not held, or without a run; `LockError`, `JournalError`,
 *   `DiskFault`; `day-ledger` if the row is settled and the shared ledger cannot be written
 */
export function settleRow(
  out: string,
  id: string,
  settlement: Settlement,
  options: SettleOptions = {},
): Promise<Summary | undefined> {
  const { attempt } = options;
  return settleRows(out, [{ id, settlement, ...(attempt !== undefined && { attempt }) }], options);
}

/** Like `settleRow`, for several rows: if one of them cannot be settled, none is. */
export async function settleRows(
  out: string,
  rows: readonly RowSettlement[],
  options: SettleOptions = {},
): Promise<Summary | undefined> {
  for (const { settlement } of rows) check(settlement);
  const { summary } = await withFolder(out, options, async (opened) => {
    const folder = { ...opened, known: knownOf(opened, rows) };
    const settled: Settled[] = [];
    for (const row of rows) settled.push(await prepare(folder, row));
    for (const one of settled) await write(folder, one);
  });
  return summary;
}

/** What the whole journal knows of the rows and jobs of a settlement: one pass for each question, when it is first asked. */
interface Known {
  readonly held: () => ReturnType<typeof heldByRow>;
  readonly owners: () => ReturnType<typeof rowsOfJobs>;
  readonly last: () => ReturnType<typeof lastRecords>;
}

interface Settling extends OpenFolder {
  readonly known: Known;
}

function knownOf({ journal: { journal } }: OpenFolder, rows: readonly RowSettlement[]): Known {
  const ids = rows.map(({ id }) => id);
  const jobs = rows.flatMap(({ settlement }) => ('jobId' in settlement ? [settlement.jobId] : []));
  return {
    held: once(() => heldByRow(journal, ids)),
    owners: once(() => rowsOfJobs(journal, jobs)),
    last: once(() => lastRecords(journal, ids)),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= read());
}

async function heldAttempts({ known }: Settling, id: string): Promise<ReadonlyMap<number, HeldAttempt>> {
  return (await known.held()).get(id) ?? new Map<number, HeldAttempt>();
}

/** Without records: the row was settled the same way before. */
type Settled = RowSettlement & Written;

function check(settlement: Settlement): void {
  if ('jobId' in settlement && !isJobId(settlement.jobId))
    throw usage(settlement.jobId === '' ? 'the job id is empty' : 'that is not an id of a job');
  if ('paidUsd' in settlement && !(settlement.paidUsd >= 0 && settlement.paidUsd <= maxPurchaseUsd))
    throw usage(`${settlement.paidUsd} is not an amount in USD`);
}

async function prepare(folder: Settling, wanted: RowSettlement): Promise<Settled> {
  const { id, settlement } = wanted;
  const row = await folder.journal.journal.find(id);
  if (row === undefined) throw usage(`the run has no row with the id ${JSON.stringify(id)}`);
  if ('undo' in settlement)
    return { ...wanted, ...undone(row, (await folder.known.last()).get(id), now(folder)) };
  const earlier = await earlierAttempt(folder, row, wanted);
  if (earlier !== undefined)
    return 'jobId' in settlement && row.status === 'open' && earlier === row.attempts
      ? foundAgain(folder, { ...wanted, settlement }, row)
      : freed(folder, wanted, earlier);
  if (isSettledSo(row, settlement)) return { ...wanted, records: [] };
  if (!isHeld(row)) throw await notHeld(folder, row);
  if ('jobId' in settlement) await refuseOthersJob(folder, id, settlement.jobId);
  if ('jobId' in settlement) return { ...wanted, ...polled(row, settlement.jobId, now(folder)) };
  if ('paidUsd' in settlement) return { ...wanted, ...givenUp(row, settlement.paidUsd, now(folder)) };
  return { ...wanted, ...toBeSent(row, now(folder)) };
}

async function write(folder: OpenFolder, { records, ...settled }: Settled): Promise<void> {
  if (records.length === 0) return;
  await appendAll(folder.journal, records);
  if (records.every(({ k }) => k !== 'freed')) await bookDay(folder, settled, records);
}

/**
 * The attempt that a settlement is about, if the row no longer depends on it: an attempt that is given and is not the
 * last one, or the last one of a row that `--retry unknown` has reopened and no start has sent since. `undefined` if
 * the settlement is about the row itself.
 */
async function earlierAttempt(
  folder: Settling,
  row: RowRecords,
  { settlement, attempt }: RowSettlement,
): Promise<number | undefined> {
  const last = row.outcome?.purchase?.attempt ?? row.attempts;
  if (attempt !== undefined && attempt !== last) return attempt;
  const isAboutLast = attempt === last || 'notSent' in settlement || 'jobId' in settlement;
  if (row.status !== 'open' || !isAboutLast) return undefined;
  return (await heldAttempts(folder, row.id)).has(last) ? last : undefined;
}

/** An unknown row that a start has reopened but that need not be sent, because its job is known. */
async function foundAgain(
  folder: Settling,
  wanted: RowSettlement & { readonly settlement: { readonly jobId: string } },
  row: RowRecords,
): Promise<Settled> {
  const { jobId } = wanted.settlement;
  const { intent } = row;
  const held = (await heldAttempts(folder, row.id)).get(row.attempts);
  if (intent === undefined || held === undefined || held.freed !== undefined)
    throw usage(`row ${JSON.stringify(row.id)} is not in doubt`);
  await refuseOthersJob(folder, row.id, jobId);
  return { ...wanted, ...polledAgain({ ...row, intent }, held, { jobId, at: now(folder) }) };
}

/** The row stays as it is; only the money held for an earlier purchase of it is freed. */
async function freed(folder: Settling, wanted: RowSettlement, attempt: number): Promise<Settled> {
  const { id, settlement } = wanted;
  const name = `attempt ${attempt} of row ${JSON.stringify(id)}`;
  if ('jobId' in settlement)
    throw usage(
      `${name} cannot be polled, because the row is bought again: record what it cost, or that it was not sent`,
    );
  const held = (await heldAttempts(folder, id)).get(attempt);
  if (held === undefined) throw usage(`${name} is not in doubt`);
  const cost = 'paidUsd' in settlement ? toMicroDollars(settlement.paidUsd) : undefined;
  const record = freedRecord(held, { at: now(folder), cost });
  if (held.freed === undefined) return { ...wanted, records: [record] };
  if (held.freed.cost === record.cost) return { ...wanted, records: [] };
  throw usage(`${name} is not in doubt: it was settled before`);
}

async function notHeld(folder: Settling, { id, status }: RowRecords): Promise<MillraceError> {
  const attempts = [...(await heldAttempts(folder, id))].flatMap(([attempt, { freed }]) =>
    freed === undefined ? [String(attempt)] : [],
  );
  const earlier =
    attempts.length === 0
      ? ''
      : `; an earlier attempt of it is in doubt: name it by its number (${attempts.join(', ')})`;
  return usage(`row ${JSON.stringify(id)} is not in doubt, it is ${status}${earlier}`);
}

/** Refuses a job of another row: its result would belong to two rows, and its cost would be booked twice. */
async function refuseOthersJob({ known }: Settling, id: string, jobId: string): Promise<void> {
  const owner = (await known.owners()).get(jobId);
  if (owner !== undefined && owner !== id)
    throw usage(`job ${JSON.stringify(jobId)} is that of row ${JSON.stringify(owner)}`);
}

/** Whether the row was settled in the same way before. A caller that does not know how its settlement ended can repeat it. */
function isSettledSo({ status, jobId, outcome }: RowRecords, settlement: Settlement): boolean {
  if ('jobId' in settlement) return status === 'accepted' && jobId === settlement.jobId;
  // A row that was paid for and is to be bought again was sent before.
  if ('notSent' in settlement) return status === 'open' && outcome?.source !== 'reported';
  if ('undo' in settlement) return false;
  return (
    status === 'expired' &&
    outcome?.source === 'reported' &&
    outcome.cost === toMicroDollars(settlement.paidUsd)
  );
}

/** Ends what the run reserved for the row in the shared ledger. A job that was found is polled first. */
async function bookDay(
  { disk, out, scheduler, journal }: OpenFolder,
  { id, settlement }: RowSettlement,
  records: Written['records'],
): Promise<void> {
  const { ledgerFile: path, rows } = journal.journal.recovered;
  if (path === undefined || 'jobId' in settlement) return;
  // The price of a job that is taken back is still reserved.
  if ('undo' in settlement && rows.get(id)?.status !== 'open') return;
  const shared = await openSharedLedger({ disk, out, path, now: () => scheduler.now(), capUsd: undefined });
  if ('undo' in settlement) {
    for (const record of records) if (record.k === 'outcome') await shared.reserve(id, record.cost ?? 0);
    return;
  }
  if (!(await shared.outstanding()).some((reserved) => reserved.id === id)) return;
  if ('paidUsd' in settlement) await shared.settle(id, toMicroDollars(settlement.paidUsd));
  else await shared.release(id);
}

function now({ scheduler }: OpenFolder): number {
  return scheduler.now();
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', problem);
}
