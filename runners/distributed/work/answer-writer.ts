import type { SchedulerLike } from 'rxjs';
import type { Answer } from '../store/answer.js';
import type { Database } from '../store/database.js';
import { RunGone } from '../store/ledger-record.js';
import { writeAnswers } from '../store/write-answers.js';
import type { Line } from './line.js';
import { sleep } from './sleep.js';

interface Waiting {
  readonly run: number;
  readonly answer: Answer;
  readonly done: () => void;
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

  /** Resolves when the answer is durable, or can never be. */
  write(run: number, answer: Answer): Promise<void> {
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
        for (const { done } of answers) done();
      }
    }
    this.isWriting = false;
  }

  private async store(run: number, answers: readonly Waiting[]): Promise<void> {
    try {
      await this.line.insist(() =>
        writeAnswers(
          this.database,
          run,
          answers.map(({ answer }) => answer),
        ),
      );
    } catch (error) {
      if (error instanceof RunGone) return;
      if (answers.length === 1) this.faulty(error);
      // One that cannot be written does not take the others with it.
      else for (const one of answers) await this.store(run, [one]);
    }
  }
}
