import type { RowJob } from '../table/claim-jobs.js';
import type { Committed, Group } from '../table/commit-group.js';
import type { NewRecord } from '../table/records.js';
import type { Claim } from '../table/rows.js';
import { endsOf, type HeldRow, type WaitingRecord } from './waiting-record.js';

/** A job that a row claims. */
export interface AskedJob {
  readonly job: RowJob;
  readonly resolve: (owner: string | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** The answer that the row was given. Its group may have to be written again. */
  answer?: { readonly owner: string | undefined };
}

/** A group, and whom it is about. */
export interface Drawn {
  readonly batch: readonly WaitingRecord[];
  /** What the answers to its jobs have led to. */
  readonly accepted: WaitingRecord[];
  readonly jobs: readonly AskedJob[];
  /** Rows that leave without a record. */
  readonly left: readonly HeldRow[];
  readonly leaving: readonly HeldRow[];
  readonly freed: readonly HeldRow[];
  readonly group: Group;
}

interface GroupOptions {
  readonly savesPictures: boolean;
  readonly claim: (rows: number) => Claim | undefined;
}

/** What a worker writes with its next group. */
export class GroupInWaiting {
  /** Rows may wait, and slots may be free. */
  mayClaim = true;
  private records: WaitingRecord[] = [];
  private jobs: AskedJob[] = [];
  private readonly left = new Set<HeldRow>();
  /** Rows with a record or a job that waits. */
  private readonly asking = new Set<string>();
  /** Rows that have left since the last claim. */
  private unclaimed = 0;
  /** The last group took no rows, as few slots were free. */
  private isPassedOver = false;

  constructor(private readonly options: GroupOptions) {}

  /** How many rows have something that waits. */
  get rows(): number {
    return this.asking.size;
  }

  add(record: WaitingRecord): void {
    this.records.push(record);
    this.asking.add(record.row.id);
  }

  ask(asked: AskedJob): void {
    this.jobs.push(asked);
    this.asking.add(asked.job.key);
  }

  leave(row: HeldRow): void {
    this.left.add(row);
  }

  /** Whether there is something to write, or to be had, for a worker with so many rows. */
  isDue(held: number): boolean {
    const { records, jobs, left, mayClaim } = this;
    return (
      records.length + jobs.length + left.size > 0 || (mayClaim && this.options.claim(held) !== undefined)
    );
  }

  /** @param batch records in place of those that wait */
  draw(held: number, batch: readonly WaitingRecord[] = this.takeRecords()): Drawn {
    const jobs = this.takeJobs();
    this.asking.clear();
    const { last, ended, freed } = endsOf(batch, this.options.savesPictures);
    const left = [...this.left];
    this.left.clear();
    const leaving = [...new Set([...ended, ...left])];
    const group: Group = {
      records: batch.map((one) => newRecord(one, last.has(one))),
      hasFailed: batch.some(({ record }) => record.k === 'outcome' && record.status === 'failed'),
      ended: leaving,
      freed: freed.map(({ item }) => item),
      jobs: jobs.map(({ job }) => job),
      claim: this.claimFor(held - leaving.length, leaving.length),
    };
    return { batch, accepted: [], jobs, left, leaving, freed, group };
  }

  /** Adds the records that follow from the answers to the group's jobs: they book nothing, and no row leaves with them. */
  drawAccepted({ accepted, jobs }: Drawn): readonly NewRecord[] {
    const rows = new Set(jobs.map(({ job }) => job.key));
    const stay: WaitingRecord[] = [];
    for (const one of this.records) {
      const { record, row, booked } = one;
      // Of each row the next record alone: they stay in their order.
      const isNext = rows.delete(row.id) && record.k === 'accepted' && booked.spent + booked.unknown === 0;
      (isNext ? accepted : stay).push(one);
      if (isNext) this.asking.delete(row.id);
    }
    this.records = stay;
    return accepted.map((one) => newRecord(one, false));
  }

  /** The group could not be written: all but its records waits again. */
  putBack({ left, jobs }: Drawn): void {
    for (const row of left) this.left.add(row);
    this.jobs.unshift(...jobs);
  }

  /** Takes in what has become of a claim. */
  claimed(wasMade: boolean, { claimed, waiting, left }: Committed): void {
    if (waiting === 0) this.mayClaim = false;
    else if (wasMade) this.mayClaim = claimed.length + left > 0;
  }

  takeRecords(): WaitingRecord[] {
    return this.records.splice(0);
  }

  takeJobs(): AskedJob[] {
    return this.jobs.splice(0);
  }

  /** A claim costs as much as ten records: where a few slots are free, one group goes before it. */
  private claimFor(stay: number, leaving: number): Claim | undefined {
    // A slot becomes free.
    this.mayClaim ||= leaving > 0;
    this.unclaimed += leaving;
    const isFew = this.unclaimed > 0 && 2 * this.unclaimed < stay;
    this.isPassedOver = isFew && !this.isPassedOver;
    if (this.isPassedOver || !this.mayClaim) return undefined;
    this.unclaimed = 0;
    return this.options.claim(stay);
  }
}

function newRecord({ row: { item }, text, booked }: WaitingRecord, isLast: boolean): NewRecord {
  return { item, text, booked, isLast };
}
