import { isTerminal, type Failed } from '../../contract/outcome.js';
import type { JobReply, StreamReply } from '../../contract/service-replies.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import type { WireRequest } from '../../transport/transport.js';
import { ChunkGapError } from '../job-error.js';
import { againAfter, type PollQuestion } from '../requests/ask-until-answered.js';
import type { Judged } from '../requests/exchange.js';
import { failureOf, outcomeOf } from '../requests/outcome-of.js';

/** Waits in ms between requests to a service that answers at once. They grow while no chunk arrives. */
const pause = { initialMs: 250, factor: 1.5, maxMs: 2_000 } as const;

/**
 * After the job's end, this many answers with chunks are followed by the next request without a wait. The limit protects a
 * service that always has more.
 */
const maxAfterEnd = 10;

/** The state of one job's chunks. */
export class ChunkBook {
  /** All chunks that may be emitted, in order. */
  readonly kept: unknown[] = [];
  /** /stream has no more chunks. */
  isDrained = false;
  /** /status has nothing new either. */
  isClosed = false;
  /** How long until the next request, in ms. */
  waitMs = 0;
  failure: Failed | undefined;
  gap: ChunkGapError | undefined;
  readonly #held: unknown[] = [];
  #hasGap = false;
  #status = '';
  #failures = 0;
  #quiet = 0;
  #afterEnd = 0;

  constructor(
    private readonly task: ChunkTask,
    private readonly random: () => number,
  ) {}

  /** Whether the job has completed and no reply was lost. */
  get isWhole(): boolean {
    return this.#status === 'COMPLETED' && !this.#hasGap && this.failure === undefined;
  }

  /** Starts again for a new subscriber after an error that was not the job's, or for a job that runs again. */
  reopen(): void {
    if (this.isClosed || this.isWhole) return;
    this.failure = undefined;
    this.isDrained = false;
  }

  enter(judged: Judged): void {
    const { verdict, reading } = judged;
    if (reading?.body === 'value' && reading.chunks !== undefined) this.#answered(reading.chunks);
    else if (verdict.verdict === 'again') this.#faulted(judged, verdict.why === 'transient');
    else {
      const code = verdict.verdict === 'final' ? verdict.code : 'expired';
      const { chunks: request, jobId } = this.task;
      // The service has forgotten a completed job, so it has returned all chunks.
      const isPast = code === 'expired' && this.#status === 'COMPLETED';
      if (!isPast) this.failure = failureOf(code, judged, { request, jobId, paid: 'maybe' });
      this.isDrained = true;
    }
  }

  /** Records the job's end. Lost chunks are searched in the output, which usually contains everything that a function yielded. */
  close(job: JobReply): void {
    const outcome = outcomeOf(job, this.task.request);
    this.isClosed = true;
    if (outcome.status === 'failed') this.failure = outcome;
    if (!this.#hasGap) return;
    const received = this.kept.length;
    if (outcome.status === 'completed' && this.#isIn(outcome.output)) {
      add(this.kept, outcome.output.slice(received));
      return;
    }
    add(this.kept, this.#held);
    this.gap = new ChunkGapError(this.task.jobId, received);
  }

  #answered({ status, stream }: StreamReply): void {
    this.#failures = 0;
    this.#status = status;
    add(this.#hasGap ? this.#held : this.kept, stream);
    this.#quiet = stream.length > 0 ? 0 : this.#quiet + 1;
    if (stream.length > 0 && isTerminal(status)) this.#afterEnd += 1;
    this.isDrained = stream.length === 0 && isTerminal(status);
    const { initialMs, factor, maxMs } = pause;
    const steps = Math.max(this.#quiet, this.#afterEnd - maxAfterEnd);
    this.waitMs = steps <= 0 ? 0 : Math.min(initialMs * factor ** (steps - 1), maxMs);
  }

  #faulted(judged: Judged, mayHaveHandedOut: boolean): void {
    this.#failures += 1;
    this.#hasGap ||= mayHaveHandedOut;
    this.waitMs = retryDelayMs(againAfter(judged), this.#failures, this.random, this.task.backoff);
  }

  /** Whether an output begins with the chunks before the gap, and the rest contains the chunks after it, in order. */
  #isIn(output: unknown): output is unknown[] {
    if (!Array.isArray(output)) return false;
    if (!this.kept.every((chunk, index) => index < output.length && isSame(chunk, output[index])))
      return false;
    let found = 0;
    for (const chunk of output.slice(this.kept.length) as unknown[])
      if (found < this.#held.length && isSame(chunk, this.#held[found])) found += 1;
    return found === this.#held.length;
  }
}

/** Adds items one by one, because spreading a very long list overflows the stack. */
function add(list: unknown[], more: readonly unknown[]): void {
  for (const chunk of more) list.push(chunk);
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** A job whose chunks are read. `request` fetches its status, with its end and its output. */
export interface ChunkTask extends PollQuestion {
  /** GET of the chunks since the last answer with chunks. */
  readonly chunks: WireRequest;
  /** Time from the subscription, in ms. */
  readonly deadlineMs: number;
}
