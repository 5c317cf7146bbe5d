import type { SchedulerLike } from 'rxjs';
import type { Answer } from '../store/answer.js';
import type { Database } from '../records/database.js';
import { RunGone } from '../records/ledger-record.js';
import { writeAnswers } from '../store/write-answers.js';
import { isAway } from '../database/database-error.js';
import type { DatabaseLink } from '../database/database-link.js';
import { sleep } from './sleep.js';
import { insteadOf } from './unwritable-answer.js';

interface Waiting {
  readonly run: number;
  readonly answer: Answer;
  readonly done: (isWritten: boolean) => void;
}

const batchSize = 500;
/** An answer waits this long for others, so that they are written together. */
const gatherMs = 3;

/**
 * Writes the answers of work items, many in one transaction: answers that arrive during a write go into the next one. While
 * the database is away they wait in memory, without a limit of time.
 */
export class AnswerWriter {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(
    private readonly database: Database,
    private readonly link: DatabaseLink,
    private readonly scheduler: SchedulerLike,
    private readonly reportFault: (error: unknown) => void,
  ) {}

  /** Resolves to true when the answer is durable, to false when it cannot be written. */
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
      await this.link.insist(() =>
        writeAnswers(
          this.database,
          run,
          answers.map(({ answer }) => answer),
        ),
      );
      done(true);
    } catch (error) {
      const [one, ...others] = answers;
      if (error instanceof RunGone) done(true);
      else if (isAway(error)) {
        this.reportFault(error);
        done(false);
      } else if (one !== undefined && others.length === 0) await this.storeInstead(one, error);
      // Written one by one, so that an answer which cannot be written does not keep the others from it.
      else for (const answer of answers) await this.store(run, [answer]);
    }
  }

  /** The database refuses the answer as it is. */
  private async storeInstead({ run, answer, done }: Waiting, cause: unknown): Promise<void> {
    this.reportFault(cause);
    for (const instead of insteadOf(answer, cause)) {
      const written = await this.link
        .insist(() => writeAnswers(this.database, run, [instead]))
        .then(() => true)
        .catch((error: unknown) => error instanceof RunGone || (isAway(error) ? false : undefined));
      if (written !== undefined) return done(written);
    }
    done(false);
  }
}
