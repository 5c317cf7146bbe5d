import type { Journal } from '../journal/journal.js';
import type {
  IntentRecord,
  JournalRecord,
  OutcomeRecord,
  PurchaseFacts,
  RecordOf,
  ReplyRecord,
} from '../journal/record.js';
import { RowStates } from '../journal/rows/row-states.js';
import { jobKey, purchaseKey, type HeldPurchase } from './cost-line.js';
import { lineId } from './line-text.js';
import { LineBatch } from './line-batch.js';
import type { RunFiles } from './run-files.js';

export interface CaughtUp {
  /** The number of journal records that the files now include. */
  readonly records: number;
  /** True if lines were removed: files that follow these line by line must then be rewritten. */
  readonly removed: boolean;
}

/**
 * Brings the files up to date with the journal: removes the lines of reopened rows, and appends those of rows that have ended.
 * Lines that are already in the files are compared, not written again.
 *
 * @param after How many records of the journal the files contain.
 */
export async function catchUp(
  files: RunFiles,
  journal: Pick<Journal, 'records' | 'find'>,
  after: number,
): Promise<CaughtUp> {
  const survey = await surveyTail(journal, after);
  const { reopened, redone, voided, records } = survey;
  const removes = after > 0 && reopened.size + voided.size > 0;
  if (removes) {
    const isTaken = (id: string): boolean => reopened.get(id) !== undefined;
    await files.remove(isTaken, (id) => redone.get(id) !== undefined, lineId);
    if (voided.size > 0) await files.removeHeld((purchase) => isVoid(voided, purchase));
  }
  if (survey.hasOutcomes) await appendTail(files, journal, after, survey);
  return { records: after + records, removed: removes };
}

interface Survey {
  /** How often each row is reopened; the count is in `attempts`. */
  readonly reopened: RowStates;
  readonly redone: RowStates;
  /** How often each purchase stops being held; the count is in `attempts`. The key is its attempt, or its attempt and job. */
  readonly voided: RowStates;
  readonly records: number;
  readonly hasOutcomes: boolean;
}

async function surveyTail(journal: Pick<Journal, 'records'>, after: number): Promise<Survey> {
  const reopened = new RowStates();
  const redone = new RowStates();
  const voided = new RowStates();
  let records = 0;
  let hasOutcomes = false;
  for await (const record of journal.records(after)) {
    records++;
    if (record.k === 'outcome' || record.k === 'freed') hasOutcomes = true;
    if (record.k === 'freed') count(voided, jobKey(record.id, record.attempt, record.jobId), 1);
    if (record.k !== 'reopen') continue;
    count(reopened, record.id, 1);
    if (record.voids !== undefined) count(voided, purchaseKey(record.id, record.voids), 1);
    if (record.why === 'redo') redone.set(record.id, { status: 'open' });
  }
  return { reopened, redone, voided, records, hasOutcomes };
}

function count(states: RowStates, key: string, by: 1 | -1): void {
  states.set(key, { status: 'open', attempts: Math.max(times(states, key) + by, 0) });
}

function times(states: RowStates, key: string): number {
  return states.get(key)?.attempts ?? 0;
}

function namedIn(id: string, { attempt, jobId }: PurchaseFacts): HeldPurchase {
  return { ofAttempt: purchaseKey(id, attempt), ofJob: jobKey(id, attempt, jobId) };
}

function isVoid(voided: RowStates, { ofAttempt, ofJob }: HeldPurchase): boolean {
  return times(voided, ofAttempt) + times(voided, ofJob) > 0;
}

/** The records of a row between its intent and its outcome. */
interface Thread {
  intent?: IntentRecord | undefined;
  reply?: ReplyRecord | undefined;
  outcome?: OutcomeRecord;
}

async function appendTail(
  files: RunFiles,
  journal: Pick<Journal, 'records' | 'find'>,
  after: number,
  survey: Survey,
): Promise<void> {
  const threads = new Threads(journal, survey);
  let batch = new LineBatch(files.valueColumns);
  for await (const record of journal.records(after)) {
    await threads.take(record, batch);
    if (!batch.isLarge) continue;
    await files.append(batch);
    batch = new LineBatch(files.valueColumns);
  }
  await files.append(batch);
}

class Threads {
  private readonly open = new Map<string, Thread>();

  constructor(
    private readonly journal: Pick<Journal, 'find'>,
    private readonly ahead: Pick<Survey, 'reopened' | 'voided'>,
  ) {}

  async take(record: JournalRecord, batch: LineBatch): Promise<void> {
    if (record.k === 'intent') this.open.set(record.id, { intent: record });
    else if (record.k === 'reply') (await this.of(record.id)).reply = record;
    else if (record.k === 'outcome') await this.end(record, batch);
    else if (record.k === 'reopen') this.reopen(record, batch);
    else if (record.k === 'freed') this.free(record, batch);
  }

  private async end(outcome: OutcomeRecord, batch: LineBatch): Promise<void> {
    const thread = await this.of(outcome.id);
    const { id, source, purchase } = outcome;
    const isCurrent = times(this.ahead.reopened, id) === 0;
    const isHeldNoMore =
      source === 'unknown' && purchase !== undefined && isVoid(this.ahead.voided, namedIn(id, purchase));
    batch.add({ ...thread, outcome }, isCurrent, isHeldNoMore);
    if (isCurrent) this.open.delete(outcome.id);
    else thread.outcome = outcome;
  }

  private reopen({ id, why, voids }: RecordOf<'reopen'>, batch: LineBatch): void {
    const { outcome, ...thread } = this.open.get(id) ?? {};
    if (why === 'redo' && outcome !== undefined) batch.addEarlier({ ...thread, outcome });
    count(this.ahead.reopened, id, -1);
    if (voids !== undefined) count(this.ahead.voided, purchaseKey(id, voids), -1);
  }

  private free(record: RecordOf<'freed'>, batch: LineBatch): void {
    batch.addFreed(record);
    count(this.ahead.voided, jobKey(record.id, record.attempt, record.jobId), -1);
  }

  /** A row that was sent before the tail begins is looked up in the journal. */
  private async of(id: string): Promise<Thread> {
    const known = this.open.get(id);
    if (known !== undefined) return known;
    const found = await this.journal.find(id);
    const thread = { intent: found?.intent, reply: found?.reply };
    this.open.set(id, thread);
    return thread;
  }
}
