import { sharedIdText } from '../../../src/policy/job-ids.js';
import { whyDisbelieved } from '../../batch/stop/stop-causes.js';
import type { StopCause } from '../../batch/stop/stops.js';
import type { Answer } from './answer.js';
import { claimJobs, type RowJob } from '../records/claim-jobs.js';
import { unknownEnding, endAsUnknown, readRunRules, sendAgain } from './sweep.js';
import { inTransaction, type Database, type Transaction } from '../records/database.js';
import { dropItems, workKinds, scheduleItems } from '../records/work-queue.js';
import { savePrices } from '../records/ledger-record.js';
import { lockRows, type RowRecord } from '../records/row-record.js';
import { RunChange } from '../records/run-change.js';
import { stopRun } from '../records/run-record.js';

/** An answer that changes its row. */
type RowAnswer = Exclude<Answer, { is: 'again' | 'stale' }>;

/**
 * Writes answers of a run in one transaction. An answer to an earlier POST of its row, or to one that has its answer already,
 * changes nothing; so the same answers may be written again.
 */
export async function writeAnswers(
  database: Database,
  run: number,
  answers: readonly Answer[],
): Promise<void> {
  const ofRows = answers.filter(isOfRow);
  await inTransaction(database.pool, async (on) => {
    if (ofRows.length > 0) await changeRows(database, on, run, ofRows);
    await moveOn(database, on, run, answers);
  });
}

function isOfRow(answer: Answer): answer is RowAnswer {
  return answer.is !== 'again' && answer.is !== 'stale';
}

async function changeRows(
  database: Database,
  on: Transaction,
  run: number,
  answers: readonly RowAnswer[],
): Promise<void> {
  const change = await RunChange.begin(database, on, run);
  const locked = await lockRows(on, run, { items: answers.map(({ item }) => item) });
  const rows = new Map(locked.map((row) => [row.item, row]));
  const shared = await sharedJobs(on, run, rows, answers);
  const rules = shared.size > 0 ? await readRunRules(on, run) : undefined;
  for (const answer of answers) {
    const row = rows.get(answer.item);
    if (row === undefined || row.attempt !== answer.attempt) continue;
    const message = shared.get(answer);
    if (message !== undefined) {
      // A late id is not believed either, and leaves the row as it is.
      if (row.state === 'sent' && rules !== undefined)
        endAsUnknown(change, row, unknownEnding(row, change.ledger.now, message), rules);
      rows.delete(answer.item);
      continue;
    }
    const next = answered(change, row, answer);
    if (next === undefined) continue;
    rows.set(row.item, next);
    const cause = whyStop(next, answer);
    if (cause !== undefined) await stopRun(on, run, cause);
  }
  await change.save();
  await savePrices(
    on,
    run,
    answers.flatMap((answer) => ('price' in answer && answer.price ? [answer.price] : [])),
  );
}

function answered(change: RunChange, row: RowRecord, answer: RowAnswer): RowRecord | undefined {
  switch (answer.is) {
    case 'accepted':
      return accepted(change, row, answer);
    case 'refused': {
      if (row.state !== 'sent') return undefined;
      const refusals = row.refusals + (answer.tried ? 1 : 0);
      const open = change.put(row, { state: 'open', worker: null, refusals });
      change.schedule('submit', open, answer.afterMs);
      return open;
    }
    case 'left':
      return row.state === 'sent' ? change.put(row, { state: 'left', worker: null }) : undefined;
    case 'paid': {
      if (row.state !== 'sent' && row.state !== 'accepted') return undefined;
      if (row.state === 'accepted') change.drop('poll', row.item);
      const saving = change.paid(row, answer.reply);
      change.schedule('download', saving, 0);
      return saving;
    }
    case 'ended':
      return ended(change, row, answer);
    case 'lost':
      return lost(change, row, answer.message);
  }
}

/** Answers that name the job of another row, each with the message why it is not believed. */
async function sharedJobs(
  on: Transaction,
  run: number,
  rows: ReadonlyMap<string, RowRecord>,
  answers: readonly RowAnswer[],
): Promise<ReadonlyMap<RowAnswer, string>> {
  const claims = new Map<RowJob, RowAnswer>();
  for (const answer of answers) {
    const row = rows.get(answer.item);
    const jobId = jobIn(answer);
    if (jobId === undefined || row?.attempt !== answer.attempt || !isUnanswered(row)) continue;
    claims.set({ key: row.key, endpoint: row.brief.endpoint, jobId }, answer);
  }
  const shared = new Map<RowAnswer, string>();
  for (const [job, owner] of await claimJobs(on, run, [...claims.keys()])) {
    const answer = claims.get(job);
    if (answer !== undefined) shared.set(answer, sharedIdText(job.jobId, owner));
  }
  return shared;
}

function isUnanswered(row: RowRecord): boolean {
  return row.state === 'sent' || (row.state === 'ended' && row.jobId === null && row.lateJobId === null);
}

function jobIn(answer: RowAnswer): string | undefined {
  if (answer.is === 'accepted') return answer.jobId;
  if (answer.is === 'paid') return answer.reply.jobId;
  if (answer.is !== 'ended') return undefined;
  const { reply, outcome } = answer.ending;
  return reply?.jobId ?? (outcome?.status === 'failed' ? outcome.jobId : undefined);
}

/** A cost that is not believed stops the run: the price lists of all workers may be wrong. */
function whyStop({ brief }: RowRecord, answer: RowAnswer): StopCause | undefined {
  const booked = bookedIn(answer);
  return booked && whyDisbelieved(brief, booked);
}

function bookedIn(answer: RowAnswer) {
  if (answer.is === 'paid') return answer.reply;
  return answer.is === 'ended' ? (answer.ending.reply ?? answer.ending.outcome) : undefined;
}

function accepted(
  change: RunChange,
  row: RowRecord,
  { jobId, pollInMs }: Extract<RowAnswer, { is: 'accepted' }>,
): RowRecord | undefined {
  if (row.state === 'ended') return late(change, row, jobId);
  if (row.state !== 'sent') return undefined;
  const next = change.put(row, { state: 'accepted', worker: null, jobId, refusals: 0 });
  change.schedule('poll', next, pollInMs);
  return next;
}

function ended(
  change: RunChange,
  row: RowRecord,
  { ending, sendAgain: isSentAgain = false }: Extract<RowAnswer, { is: 'ended' }>,
): RowRecord | undefined {
  const { reply, outcome } = ending;
  const failedId = outcome?.status === 'failed' ? outcome.jobId : undefined;
  const jobId = reply?.jobId ?? failedId ?? row.jobId;
  if (row.state === 'ended') return jobId === null ? undefined : late(change, row, jobId);
  if (row.state === 'open' || row.state === 'left') return undefined;
  if (isSentAgain) {
    sendAgain(change, row, ending);
    return undefined;
  }
  if (row.state !== 'sent') change.drop(row.state === 'saving' ? 'download' : 'poll', row.item);
  return change.end({ ...row, jobId }, ending);
}

/** A reply that is in the database already stays: the collector saves its picture. */
function lost(change: RunChange, row: RowRecord, message: string): RowRecord | undefined {
  if (row.state === 'open' || row.state === 'left' || row.state === 'ended') return undefined;
  if (row.state !== 'sent') change.drop(row.state === 'saving' ? 'download' : 'poll', row.item);
  const { reply } = row;
  return change.end(row, reply === null ? unknownEnding(row, change.ledger.now, message) : { reply });
}

/** The worker was taken for dead, and its answer arrives late: the row stays unknown, and its job can be polled. */
function late(change: RunChange, row: RowRecord, jobId: string): RowRecord | undefined {
  const outcome = row.ending?.outcome;
  const isHeld = outcome?.status === 'failed' && outcome.error.code === 'unknown' && row.jobId === null;
  return isHeld ? change.put(row, { lateJobId: jobId }) : undefined;
}

async function moveOn(
  { boss }: Database,
  on: Transaction,
  run: number,
  answers: readonly Answer[],
): Promise<void> {
  for (const kind of workKinds) {
    const again = answers.flatMap((answer) =>
      answer.is === 'again' && answer.kind === kind ? [answer] : [],
    );
    const stale = answers.flatMap((answer) =>
      answer.is === 'stale' && answer.kind === kind ? [answer.item] : [],
    );
    await scheduleItems(boss, on, { run, kind }, again);
    await dropItems(boss, on, { run, kind }, stale);
  }
}
