import { lastValueFrom, merge } from 'rxjs';
import { MillraceError } from '../../src/contract/millrace-error.js';
import { isJobId } from '../../src/contract/job-id.js';
import { toMicroDollars } from '../../src/contract/micro-dollars.js';
import { maxPurchaseUsd } from '../../src/contract/reported-cost.js';
import type { RowRecords } from './journal/journal.js';
import type { JournalRecord, OutcomeRecord } from './journal/record.js';
import { withFolder, type FolderOptions, type OpenFolder } from './run/open-folder.js';
import { openSharedLedger } from './run/open-shared-ledger.js';
import { failedRecord, purchaseFacts, rowError } from './run/records-of.js';
import { reopenRecord } from './run/reopen-record.js';
import { rowOfJob } from './run/row-of-job.js';
import type { Summary } from './sinks/summary.js';

/** What a person found out about a held row. */
export type Settlement =
  /** It was accepted under this id: the next start polls it. */
  | { readonly jobId: string }
  /** It was accepted and cost this much, in USD; its result is given up. */
  | { readonly paidUsd: number }
  /** It never reached the service: the next start sends it. */
  | { readonly notSent: true };

export interface SettleOptions extends FolderOptions {
  /**
   * Where the row lives elsewhere as well: told before the journal is, with the ending that the row gets. Where it fails
   * nothing is written. It may be told the same settlement again.
   */
  readonly tellFirst?: (ending: OutcomeRecord | undefined) => Promise<void>;
}

/**
 * Ends by hand the doubt about a row that may have been bought. Nothing is sent. What was settled so before stays so.
 *
 * @returns the run's summary as it stands then; `undefined` where there is none yet.
 * @throws {MillraceError} `usage` for a row that is not held, and where there is no run; `LockError`, `JournalError`,
 *   `DiskFault`; `day-ledger` where the row is settled and the ledger that runs share cannot be written.
 */
export async function settleRow(
  out: string,
  id: string,
  settlement: Settlement,
  options: SettleOptions = {},
): Promise<Summary | undefined> {
  check(settlement);
  const { summary } = await withFolder(out, options, (folder) =>
    settle(folder, id, settlement, options.tellFirst),
  );
  return summary;
}

function check(settlement: Settlement): void {
  if ('jobId' in settlement && !isJobId(settlement.jobId))
    throw usage(settlement.jobId === '' ? 'the job id is empty' : 'that is no id of a job');
  if ('paidUsd' in settlement && !(settlement.paidUsd >= 0 && settlement.paidUsd <= maxPurchaseUsd))
    throw usage(`${settlement.paidUsd} is no amount in USD`);
}

async function settle(
  folder: OpenFolder,
  id: string,
  settlement: Settlement,
  tellFirst: SettleOptions['tellFirst'],
): Promise<void> {
  const row = await folder.journal.journal.find(id);
  if (row === undefined) throw usage(`the run has no row with the id ${JSON.stringify(id)}`);
  if (isSettledSo(row, settlement)) return;
  if (!isHeld(row)) throw usage(`row ${JSON.stringify(id)} is not held, it is ${row.status}`);
  if ('jobId' in settlement) await refuseOthersJob(folder, id, settlement.jobId);
  const records =
    'jobId' in settlement
      ? polled(folder, row, settlement.jobId)
      : 'paidUsd' in settlement
        ? givenUp(folder, row, settlement.paidUsd)
        : toBeSent(folder, row);
  await tellFirst?.(records.find((record) => record.k === 'outcome'));
  await lastValueFrom(merge(...records.map((record) => folder.journal.append(record))));
  await bookDay(folder, id, settlement);
}

/** Its result would stand for two rows, and its cost twice in the books. */
async function refuseOthersJob({ journal }: OpenFolder, id: string, jobId: string): Promise<void> {
  const owner = await rowOfJob(journal.journal, jobId);
  if (owner !== undefined && owner !== id)
    throw usage(`job ${JSON.stringify(jobId)} is that of row ${JSON.stringify(owner)}`);
}

/** `expired` with its cost known was settled: nobody doubts it any more. */
function isHeld({ status, outcome }: RowRecords): boolean {
  return (
    status === 'unknown' || status === 'sent' || (status === 'expired' && outcome?.source !== 'reported')
  );
}

/** Whoever could not see the end of a settlement may ask for it again. */
function isSettledSo({ status, jobId, outcome }: RowRecords, settlement: Settlement): boolean {
  if ('jobId' in settlement) return status === 'accepted' && jobId === settlement.jobId;
  if ('notSent' in settlement) return status === 'open';
  return (
    status === 'expired' &&
    outcome?.source === 'reported' &&
    outcome.cost === toMicroDollars(settlement.paidUsd)
  );
}

/** What the run reserved for the row in the ledger that runs share ends with the doubt. A job that is found is polled first. */
async function bookDay(
  { disk, out, scheduler, journal }: OpenFolder,
  id: string,
  settlement: Settlement,
): Promise<void> {
  const { ledgerFile: path } = journal.journal.recovered;
  if (path === undefined || 'jobId' in settlement) return;
  const shared = await openSharedLedger({ disk, out, path, now: () => scheduler.now(), capUsd: undefined });
  if (!(await shared.outstanding()).some((reserved) => reserved.id === id)) return;
  if ('paidUsd' in settlement) await shared.settle(id, toMicroDollars(settlement.paidUsd));
  else await shared.release(id);
}

function polled(folder: OpenFolder, row: RowRecords, jobId: string): JournalRecord[] {
  if (row.intent === undefined)
    throw usage(`what row ${JSON.stringify(row.id)} sent is not known: it cannot be polled`);
  const accepted: JournalRecord = { k: 'accepted', at: now(folder), id: row.id, jobId };
  if (row.status === 'sent') return [accepted];
  if (row.outcome) folder.totals.reopen(row.outcome, 'poll');
  folder.toDo = 1;
  return [accepted, reopened(folder, row, 'poll')];
}

function toBeSent(folder: OpenFolder, row: RowRecords): JournalRecord[] {
  const { id } = row;
  if (row.status === 'sent')
    return [{ k: 'refused', at: now(folder), id, why: 'settled by hand: it was never sent' }];
  if (row.outcome) folder.totals.giveBack(row.outcome);
  folder.toDo = 1;
  return [reopened(folder, row, 'buy')];
}

/** It ran, and its result is gone: `expired`, with its cost known. */
function givenUp(folder: OpenFolder, row: RowRecords, paidUsd: number): JournalRecord[] {
  const outcome = paidOutcome(row, paidUsd, now(folder));
  const before = row.status === 'sent' ? [] : [reopened(folder, row, 'poll')];
  if (row.outcome && row.status !== 'sent') folder.totals.reopen(row.outcome, 'poll');
  if (row.status === 'sent') folder.toDo = -1;
  folder.totals.end(outcome);
  return [...before, outcome];
}

function paidOutcome(
  { id, intent, attempts, jobId, outcome }: RowRecords,
  paidUsd: number,
  at: number,
): OutcomeRecord {
  const lost = outcome?.status === 'failed' ? outcome.row : undefined;
  const message = `settled by hand: it was accepted and cost $${paidUsd}, and its result is given up`;
  return failedRecord(id, rowError({ code: 'expired', paid: 'yes', message }), {
    ...{ at, cost: toMicroDollars(paidUsd), source: 'reported', statusCalls: 0, jobId },
    ...(intent && { submittedAt: intent.at }),
    purchase: purchaseFacts(intent ?? lost ?? nowhere, { attempt: attempts, jobId, settledAt: at }),
    ...(intent === undefined && lost && { row: lost }),
  });
}

const nowhere = { row: 0, endpoint: '' };

function reopened(folder: OpenFolder, row: RowRecords, to: 'poll' | 'buy'): JournalRecord {
  return reopenRecord(row, { at: now(folder), why: 'settle', to });
}

function now({ scheduler }: OpenFolder): number {
  return scheduler.now();
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', problem);
}
