import { from as promised, lastValueFrom, type Observable } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import { endpointOf, isOtherAnswered } from '../../batch/context/row-slots.js';
import { endRow } from '../../batch/end/end-row.js';
import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../../batch/journal/record.js';
import { noteAnswer } from '../../batch/stop/service-reach.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import type { PaidRow } from '../../batch/row/task.js';
import type { StoredRecord } from '../table/records.js';

type Unsaved = Omit<PaidRow, 'free'>;

/** The rows of this start in the database, by their ids. */
interface Fed {
  /** The purchases of rows that are polled, which earlier starts booked. */
  readonly bought: ReadonlyMap<string, IntentRecord>;
  /** Rows that were fed under the cap of a day, until their ends are known. */
  readonly reserved: Pick<Map<string, unknown>, 'delete'>;
}

interface Purchase {
  readonly intent: IntentRecord;
  readonly post: 'unanswered' | 'answered' | 'refused';
  readonly reply?: ReplyRecord;
}

/**
 * Copies the records of workers into the folder's journal, word for word and in order. Then it books money, writes lines and
 * reports rows as if the rows had been bought here.
 */
export class RecordCopier {
  private readonly purchases = new Map<string, Purchase>();
  /** An outcome whose next record sends the row again. */
  private double: OutcomeRecord | undefined;

  constructor(
    private readonly run: Run,
    private readonly remote: Fed,
    /** Called with each row whose picture no worker saves. */
    private readonly save: (row: Unsaved) => void,
  ) {}

  /** Resolves when the records are durable and the lines are written. */
  async copy(page: readonly StoredRecord[]): Promise<void> {
    const copying: Promise<unknown>[] = [];
    const again = new Set<string>();
    for (const { record, isLast } of page) {
      // The previous purchase must be booked first.
      if (record.k === 'intent' && again.has(record.id)) await Promise.all(copying.splice(0));
      if (record.k === 'reopen') again.add(record.id);
      const copied = this.copied(record, isLast);
      if (copied !== undefined) copying.push(lastValueFrom(copied, { defaultValue: undefined }));
    }
    await Promise.all(copying);
  }

  /**
   * Call it when no worker has a row. Releases what was reserved for rows whose requests were refused, and returns paid rows that a
   * worker had to leave before their picture was saved.
   */
  end(): Unsaved[] {
    const purchases = [...this.purchases.values()];
    for (const { intent, post } of purchases)
      if (post === 'refused') this.run.money.ledger.release(intent.id);
    return purchases.flatMap(({ intent, reply }) => (reply === undefined ? [] : [unsavedRow(intent, reply)]));
  }

  /** The record is appended on subscription. */
  private copied(record: RowRecord, isLast: boolean): Observable<unknown> | undefined {
    const { journal } = this.run;
    switch (record.k) {
      case 'intent':
        this.begin(record);
        return journal.append(record);
      case 'reply':
        return this.replied(record, isLast);
      case 'outcome':
        if (isLast) return this.ended(record, []);
        this.double = record;
        return undefined;
      case 'reopen': {
        const { double } = this;
        this.double = undefined;
        return double?.id === record.id ? this.ended(double, [record]) : journal.append(record);
      }
      case 'accepted':
        this.answered(record.id);
        return journal.append(record);
      case 'refused':
        this.decided(record.id, 'refused');
        return journal.append(record);
      case 'freed':
        return journal.append(record);
    }
  }

  private begin(intent: IntentRecord): void {
    const { id, price } = intent;
    // A row that was refused before keeps its reservation.
    const { ledger, watch } = this.run.money;
    if (!this.purchases.has(id)) ledger.reserve(id, price, intent);
    watch?.look(intent);
    this.purchases.set(id, { intent, post: 'unanswered' });
  }

  /** The row's request if it had no answer yet; it has one from now on. */
  private decided(id: string, post: 'answered' | 'refused'): IntentRecord | undefined {
    const purchase = this.purchases.get(id);
    if (purchase?.post !== 'unanswered') return undefined;
    this.purchases.set(id, { ...purchase, post });
    return purchase.intent;
  }

  /**
   * Stops a run whose requests may all be paid for nothing. Each worker knows its own answers only, and one that stops is
   * followed by a new one, so those of all workers are counted by their records.
   */
  private answered(id: string, unknown?: { readonly at: number; readonly why: string }): void {
    const post = this.decided(id, 'answered');
    if (post === undefined) return;
    const { service, stops } = this.run;
    const { reach } = service;
    const endpoint = endpointOf(post);
    if (unknown === undefined) reach.answered(endpoint);
    else reach.notAnswered(endpoint);
    const areOthersAnswered = () =>
      [...this.purchases.values()].some(
        (other) => other.post === 'unanswered' && isOtherAnswered(endpointOf(other.intent), endpoint, reach),
      );
    noteAnswer(
      { reach, stops, areOthersAnswered },
      { endpoint: post.endpoint, sentAt: post.at, at: unknown?.at ?? post.at, whyUnknown: unknown?.why },
    );
  }

  private replied(reply: ReplyRecord, isLast: boolean): Observable<unknown> {
    const { run } = this;
    const intent = this.purchases.get(reply.id)?.intent ?? this.remote.bought.get(reply.id);
    this.remote.reserved.delete(reply.id);
    this.answered(reply.id);
    this.purchases.delete(reply.id);
    if (intent === undefined) return run.journal.append(reply);
    if (!isLast) this.purchases.set(reply.id, { intent, reply, post: 'answered' });
    const ending = {
      row: intent.row,
      intent,
      reply,
      records: [reply],
      bought: { facts: intent, cost: reply },
    };
    if (isLast) {
      const keep = lastValueFrom(endRow(run, ending), { defaultValue: undefined });
      return promised(keep.then(() => this.save(unsavedRow(intent, reply))));
    }
    return endRow(run, ending);
  }

  private ended(outcome: OutcomeRecord, more: readonly RowRecord[]): Observable<unknown> {
    const { id } = outcome;
    const { reply, intent = this.remote.bought.get(id) } = this.purchases.get(id) ?? {};
    const { code, message } = outcome.status === 'failed' ? outcome.error : {};
    this.answered(id, code === 'unknown' ? { at: outcome.at, why: message ?? code } : undefined);
    this.purchases.delete(id);
    if (code !== 'unknown') this.remote.reserved.delete(id);
    // A row that is sent again is not held: a callback about this request has its job polled instead.
    else if (intent !== undefined && more.length === 0)
      this.run.callbacks?.hold(id, { attempt: intent.attempt, endpoint: intent.endpoint });
    const row = intent?.row ?? (outcome.status === 'failed' ? outcome.row?.row : undefined) ?? 0;
    return endRow(this.run, {
      row,
      intent,
      reply,
      records: [outcome, ...more],
      // Without a reply, the outcome books the purchase.
      ...(intent !== undefined && reply === undefined && { bought: { facts: intent, cost: outcome } }),
    });
  }
}

function unsavedRow(intent: IntentRecord, reply: ReplyRecord): Unsaved {
  return { row: intent, intent, reply, attempts: intent.attempt, isBooked: false };
}
