import { AsyncSubject, Observable } from 'rxjs';
import type { AppendFile } from '../disk/append-file.js';
import { reasonOf, remedyOf } from './disk-reason.js';
import { encodeRecord } from './line/encode-record.js';
import { JournalError } from './journal-error.js';
import type { JournalRecord } from './record.js';

interface Waiting {
  readonly line: Buffer;
  /** Something is bought once it is durable. */
  readonly isIntent: boolean;
  readonly done: AsyncSubject<number>;
  readonly number: number;
}

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
    /** Whether the file still has its name. What is bought into a file that nobody finds again is bought twice. */
    private readonly isThere: () => Promise<boolean> = () => Promise.resolve(true),
  ) {}

  append(record: JournalRecord): Observable<number> {
    let done: AsyncSubject<number> | undefined;
    return new Observable<number>((subscriber) => {
      done ??= this.add(record);
      return done.subscribe(subscriber);
    });
  }

  async close(): Promise<void> {
    await this.running;
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
      this.waiting.push({ line, isIntent: record.k === 'intent', done, number });
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
    try {
      await this.file.append(Buffer.concat(batch.map(({ line }) => line)));
      const buys = batch.some(({ isIntent }) => isIntent);
      const [isThere] = await Promise.all([buys ? this.isThere() : true, this.file.sync()]);
      if (!isThere) throw this.gone(start);
    } catch (cause) {
      return this.fail([...batch, ...this.waiting.splice(0)], start, cause);
    }
    for (const { done, number } of batch) {
      done.next(number);
      done.complete();
    }
  }

  /** The file is cut back to what is durable, so that the next start finds whole records alone. */
  private async fail(lost: readonly Waiting[], start: number, cause: unknown): Promise<void> {
    this.failure = this.describe(start, cause);
    await this.file
      .cutTo(start)
      .then(() => this.file.sync())
      .catch(() => undefined);
    for (const { done } of [...lost, ...this.waiting.splice(0)]) done.error(this.failure);
  }

  private gone(offset: number): JournalError {
    const what = `The journal ${this.path} is gone: its folder was removed or renamed while the run went on. Nothing more is sent. `;
    const next = `What was bought stands there alone: put it back, or look at the account before the next start.`;
    return new JournalError('journal-io', what + next, { offset });
  }

  private describe(offset: number, cause: unknown): JournalError {
    if (cause instanceof JournalError) return cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const what = `The journal ${this.path} cannot be written: ${reasonOf(code) ?? message}. `;
    const next = `Nothing more is sent; what it held before (${offset} bytes) is safe. ${remedyOf(code)} and run the same command again.`;
    return new JournalError('journal-io', what + next, { offset, errno: code, cause });
  }
}
