import type { SchedulerLike } from 'rxjs';
import type { Answer } from '../store/answer.js';
import type { Database } from '../records/database.js';
import { RunGone } from '../records/ledger-record.js';
import { writeAnswers } from '../store/write-answers.js';
import type { Line } from '../database/database-link.js';
import { sleep } from './sleep.js';

interface Waiting {
  readonly run: number;
  readonly answer: Answer;
  readonly done: (isWritten: boolean) => void;
}

const batchSize = 500;
/** So long a lone answer waits for others to be written with. */
const gatherMs = 3;

/**
 * Writes what came of pieces, many in one transaction: those that come while one is written go into the next. While the
 * database is away they wait in memory, for as long as it takes.
 */
export class AnswerWriter {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(
    private readonly database: Database,
    private readonly line: Line,
    private readonly scheduler: SchedulerLike,
    private readonly faulty: (error: unknown) => void,
  ) {}

  /** Resolves when the answer is durable; with false, when it can never be. */
  write(run: number, answer: Answer): Promise<boolean> {
    return new Promise((done) => {
      this.waiting.push({ run, answer, done });
      if (!this.isWriting) void this.flush();
    });
  }

  private async flush(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      if (this.waiting.length < batchSize) await sleep(gatherMs, this.scheduler);
      const batch = this.waiting.splice(0, batchSize);
      for (const run of new Set(batch.map((waiting) => waiting.run))) {
        const answers = batch.filter((waiting) => waiting.run === run);
        await this.store(run, answers);
      }
    }
    this.isWriting = false;
  }

  private async store(run: number, answers: readonly Waiting[]): Promise<void> {
    const done = (isWritten: boolean): void => answers.forEach((answer) => answer.done(isWritten));
    try {
      await this.line.insist(() =>
        writeAnswers(
          this.database,
          run,
          answers.map(({ answer }) => answer),
        ),
      );
      done(true);
    } catch (error) {
      if (error instanceof RunGone) done(true);
      else if (answers.length === 1) {
        this.faulty(error);
        done(false);
      }
      // One that cannot be written does not take the others with it.
      else for (const one of answers) await this.store(run, [one]);
    }
  }
}
