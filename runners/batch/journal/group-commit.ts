import { AsyncSubject, Observable } from 'rxjs';
import type { AppendFile } from '../disk/append-file.js';
import { isOfRoom, reasonOf, remedyOf } from '../disk/disk-fault.js';
import { JournalError, journalMoved } from './journal-error.js';
import { encodeRecord } from './line/record-line.js';
import type { JournalRecord } from './record.js';

interface Waiting {
  readonly line: Buffer;
  /** It is looked whether the file is still the run's before this record counts. */
  readonly isGuarded: boolean;
  readonly done: AsyncSubject<number>;
  readonly number: number;
}

/**
 * Something follows from such a record: a purchase, or a row that is taken up. It must be in the file that the next start reads.
 */
const guarded: ReadonlySet<JournalRecord['k']> = new Set(['start', 'intent', 'reopen', 'stop'] as const);

/**
 * Appends records with one write and one sync for all that came together: what arrives while a sync runs goes with the
 * next. Memory holds what waits, which is bounded by the rows in flight.
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
    // A record may have come in the steps between the end of a group and here.
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
      // Behind what was cut off, each group would stand after a hole, and the file have its length again.
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

  /** The file is cut back to what is durable, so that the next start finds whole records alone. One that another program has cut is left. */
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
