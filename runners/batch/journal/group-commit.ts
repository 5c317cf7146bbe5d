import { AsyncSubject, Observable } from 'rxjs';
import type { AppendFile } from '../disk/append-file.js';
import { isOfRoom, reasonOf, remedyOf } from '../disk/disk-fault.js';
import { JournalError, journalMoved } from './journal-error.js';
import { encodeRecord } from './line/record-line.js';
import type { JournalRecord } from './record.js';

interface Waiting {
  readonly line: Buffer;
  /** Before this record counts as durable, the file must still be at its path. */
  readonly isGuarded: boolean;
  readonly done: AsyncSubject<number>;
  readonly number: number;
}

/** An action follows such a record, such as a purchase. So it must be in the file that the next start reads. */
const guarded: ReadonlySet<JournalRecord['k']> = new Set(['start', 'intent', 'reopen', 'stop'] as const);

/**
 * Appends all records that arrived together with one write and one sync; records that arrive during a sync go with the
 * next one. The records that wait are in memory; their number is limited by the rows in flight.
 */
export class GroupCommit {
  private waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  private failure: JournalError | undefined;

  constructor(
    private readonly file: AppendFile,
    private readonly path: string,
    private records: number,
    private readonly makeRoom: () => Promise<boolean>,
  ) {}

  append(record: JournalRecord): Observable<number> {
    let done: AsyncSubject<number> | undefined;
    return new Observable<number>((subscriber) => {
      done ??= this.add(record);
      return done.subscribe(subscriber);
    });
  }

  async close(): Promise<void> {
    // More records may have arrived meanwhile.
    while (this.running !== undefined) await this.running;
    this.failure ??= new JournalError('journal-io', `The journal ${this.path} is closed.`);
    await this.file.close();
  }

  private add(record: JournalRecord): AsyncSubject<number> {
    const done = new AsyncSubject<number>();
    try {
      if (this.failure) throw this.failure;
      const number = this.records + 1;
      const line = encodeRecord(number, record);
      this.records = number;
      this.waiting.push({ line, isGuarded: guarded.has(record.k), done, number });
      this.running ??= Promise.resolve().then(() => this.drain());
    } catch (error) {
      done.error(error);
    }
    return done;
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0 && this.failure === undefined) await this.commit(this.waiting.splice(0));
    this.running = undefined;
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    const start = this.file.end;
    const isGuarded = batch.some((waiting) => waiting.isGuarded);
    try {
      // If another program has cut the file, this write would leave a hole before its records, and the length would look right
      // again.
      if (!(await this.file.isIntact())) throw journalMoved(this.path, start);
      const lines = Buffer.concat(batch.map(({ line }) => line));
      try {
        await this.file.append(lines);
      } catch (error) {
        if (!isOfRoom((error as NodeJS.ErrnoException).code) || !(await this.makeRoom())) throw error;
        await this.file.append(lines);
      }
      const [isNamed] = await Promise.all([isGuarded ? this.file.isNamed() : true, this.file.sync()]);
      if (!isNamed) throw journalMoved(this.path, start);
    } catch (cause) {
      return this.fail([...batch, ...this.waiting.splice(0)], start, cause);
    }
    for (const { done, number } of batch) {
      done.next(number);
      done.complete();
    }
  }

  /**
   * Cuts the file back to what is durable, so that the next start finds only whole records. A file that another program
   * has cut is left as it is.
   */
  private async fail(lost: readonly Waiting[], start: number, cause: unknown): Promise<void> {
    this.failure = this.describe(start, cause);
    if (this.file.end > start || !(cause instanceof JournalError))
      await this.file
        .cutTo(start)
        .then(() => this.file.sync())
        .catch(() => undefined);
    for (const { done } of [...lost, ...this.waiting.splice(0)]) done.error(this.failure);
  }

  private describe(offset: number, cause: unknown): JournalError {
    if (cause instanceof JournalError) return cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const what = `The journal ${this.path} cannot be written: ${reasonOf(code) ?? message}. `;
    const next = `Nothing more is sent; what it held before (${offset} bytes) is safe. ${remedyOf(code)} and run the same command again.`;
    return new JournalError('journal-io', what + next, { offset, errno: code, cause });
  }
}
