import type { Journal } from '../journal/journal.js';
import type {
  IntentRecord,
  JournalRecord,
  OutcomeRecord,
  PurchaseFacts,
  RecordOf,
  ReplyRecord,
} from '../journal/record.js';
import { NumbersByText } from '../journal/rows/hash-index.js';
import { jobKey, purchaseKey, type HeldPurchase } from './cost-line.js';
import { LineBatch } from './line-batch.js';
import { resultLine, type ResultLine } from './result-line.js';
import type { RunFiles, StaleSheets } from './run-files.js';

export interface CaughtUp {
  /** The number of journal records that the files now include. */
  readonly records: number;
  /** Which of the files lost lines: the spreadsheet that follows it line by line must then be rewritten. */
  readonly removed: StaleSheets;
}

/**
 * Brings the files up to date with the journal: removes the lines of reopened rows from failures.jsonl, and appends those of rows
 * that have ended. A line of results.jsonl leaves only once a later result of its row is there. Lines that are already in the
 * files are compared, not written again.
 *
 * @param after How many records of the journal the files contain.
 */
export async function catchUp(
  files: RunFiles,
  journal: Pick<Journal, 'records' | 'find'>,
  after: number,
): Promise<CaughtUp> {
  const survey = new Survey(after === 0);
  for await (const record of journal.records(after)) survey.take(record);
  const { reopened, voided, records } = survey;
  if (survey.takesResults) await files.watchResults();
  const removes = after > 0 && reopened.size + voided.size > 0;
  if (removes) await files.removeFailures((id) => reopened.get(id) !== undefined);
  if (removes && voided.size > 0) await files.removeHeld((purchase) => isVoid(voided, purchase));
  if (survey.hasOutcomes) await appendTail(files, journal, after, survey);
  const results = await files.removeReplaced();
  return { records: after + records, removed: { results, failures: removes } };
}

/** What the records hold that the files do not contain yet. */
class Survey {
  /** By row: the number of the record, counted from the first of these, by which it is reopened last. */
  readonly reopened = new NumbersByText();
  /** By row that is reopened: the number of the record by which it completes last, if it does so after that. */
  readonly completedAgain = new NumbersByText();
  /** How often each purchase stops being held. The key is its attempt, or its attempt and job. */
  readonly voided = new NumbersByText();
  /** Rows with a purchase that was sent before these records, and a later one: the journal finds only the later one. */
  readonly sentTwice = new Set<string>();
  /** Whether rows that had completed are reopened. */
  takesResults = false;
  hasOutcomes = false;
  records = 0;
  private readonly sent = new NumbersByText();
  private readonly sentBefore = new NumbersByText();

  /** @param isWhole whether these are all records of the journal */
  constructor(private readonly isWhole: boolean) {}

  take(record: JournalRecord): void {
    this.records++;
    if (record.k === 'intent') this.takeIntent(record.id);
    else if (record.k === 'reply' || record.k === 'outcome') this.takeEnd(record);
    else if (record.k === 'reopen') this.takeReopen(record);
    else if (record.k === 'freed') {
      this.hasOutcomes = true;
      count(this.voided, jobKey(record.id, record.attempt, record.jobId), 1);
    }
  }

  private takeIntent(id: string): void {
    if (this.isWhole) return;
    this.sent.set(id, this.records);
    if (this.sentBefore.get(id) !== undefined) this.sentTwice.add(id);
  }

  private takeEnd(record: ReplyRecord | OutcomeRecord): void {
    const { id } = record;
    if (!this.isWhole && this.sent.get(id) === undefined) this.sentBefore.set(id, this.records);
    if (record.k === 'reply') return;
    this.hasOutcomes = true;
    const isAgain = record.status === 'completed' && this.reopened.get(id) !== undefined;
    if (isAgain) this.completedAgain.set(id, this.records);
  }

  private takeReopen({ id, why, voids }: RecordOf<'reopen'>): void {
    this.reopened.set(id, this.records);
    if (voids !== undefined) count(this.voided, purchaseKey(id, voids), 1);
    if (why === 'redo' || why === 'refetch') this.takesResults = true;
  }
}

function count(numbers: NumbersByText, key: string, by: 1 | -1): void {
  numbers.set(key, Math.max((numbers.get(key) ?? 0) + by, 0));
}

function namedIn(id: string, { attempt, jobId }: PurchaseFacts): HeldPurchase {
  return { ofAttempt: purchaseKey(id, attempt), ofJob: jobKey(id, attempt, jobId) };
}

function isVoid(voided: NumbersByText, { ofAttempt, ofJob }: HeldPurchase): boolean {
  return (voided.get(ofAttempt) ?? 0) + (voided.get(ofJob) ?? 0) > 0;
}

/** The records of a row between its intent and its outcome. */
interface Thread {
  intent?: IntentRecord | undefined;
  reply?: ReplyRecord | undefined;
  /** Its result so far, if a later one follows. */
  before?: ResultLine | undefined;
}

async function appendTail(
  files: RunFiles,
  journal: Pick<Journal, 'records' | 'find'>,
  after: number,
  survey: Survey,
): Promise<void> {
  const threads = new Threads(journal, survey);
  if (survey.sentTwice.size > 0) await threads.recall(after);
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
  /** The number of the record, as in `Survey`. */
  private number = 0;

  constructor(
    private readonly journal: Pick<Journal, 'records' | 'find'>,
    private readonly ahead: Pick<Survey, 'reopened' | 'completedAgain' | 'voided' | 'sentTwice'>,
  ) {}

  /** Looks up the purchases of `sentTwice` that the first `count` records end with. */
  async recall(count: number): Promise<void> {
    let number = 0;
    for await (const record of this.journal.records()) {
      if (number++ === count) return;
      if (!('id' in record) || !this.ahead.sentTwice.has(record.id)) continue;
      if (record.k === 'intent') this.open.set(record.id, { intent: record });
      const thread = this.open.get(record.id);
      if (record.k === 'reply' && thread !== undefined) thread.reply = record;
    }
  }

  async take(record: JournalRecord, batch: LineBatch): Promise<void> {
    this.number++;
    if (record.k === 'intent') this.begin(record);
    else if (record.k === 'reply') (await this.of(record.id)).reply = record;
    else if (record.k === 'outcome') await this.end(record, batch);
    else if (record.k === 'reopen' && record.voids !== undefined)
      count(this.ahead.voided, purchaseKey(record.id, record.voids), -1);
    else if (record.k === 'freed') this.free(record, batch);
  }

  private begin(intent: IntentRecord): void {
    this.open.set(intent.id, { intent, before: this.open.get(intent.id)?.before });
  }

  private async end(outcome: OutcomeRecord, batch: LineBatch): Promise<void> {
    const { id, source, purchase, status } = outcome;
    const thread = await this.of(id);
    const row = { intent: thread.intent, reply: thread.reply, outcome };
    const isVoided =
      source === 'unknown' && purchase !== undefined && isVoid(this.ahead.voided, namedIn(id, purchase));
    const isReopened = this.isAhead(this.ahead.reopened, id);
    if (status === 'completed') {
      const isReplaced = this.isAhead(this.ahead.completedAgain, id);
      // A purchase that completes anew has got its files since: the same result, and no earlier one.
      const before = thread.before?.attempts === thread.intent?.attempt ? undefined : thread.before;
      batch.add(row, !isReplaced, { isVoid: isVoided, before });
      thread.before = isReplaced ? resultLine(row) : undefined;
    } else batch.add(row, !isReopened, { isVoid: isVoided });
    if (!isReopened) this.open.delete(id);
  }

  private isAhead(numbers: NumbersByText, id: string): boolean {
    return (numbers.get(id) ?? 0) > this.number;
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
