import {
  concat,
  concatMap,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  mergeMap,
  of,
  repeat,
  share,
  startWith,
  tap,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import type { FailureCode } from '../../contract/failure-code.js';
import { isTerminal, type Failed, type Outcome } from '../../contract/outcome.js';
import { clampTimer } from '../../policy/client-clock.js';
import { JobError } from '../job-error.js';
import type { Job } from '../job.js';
import { exchange, passGate, type ClientContext, type RequestSlot } from '../requests/exchange.js';
import { whatWasAsked } from '../requests/outcome-of.js';
import { pollOnce } from '../requests/ask-until-answered.js';
import { deadline } from '../deadline.js';
import { ChunkBook, type ChunkTask } from './chunk-book.js';

/**
 * The chunks of a job, each once and in order; every subscriber receives all from the first one. Completes when the job has
 * completed and the service has no more chunks. Errors with a `JobError` if the job ends otherwise, or has not ended by the
 * deadline.
 *
 * The service forgets a chunk once it has returned it. So a request on the wire is never aborted: its chunks are kept for the
 * next subscriber. If a reply was lost, later chunks are held back until the output of the job shows the missing ones; if it
 * does not, the stream errors with `ChunkGapError`.
 */
export function readChunks(task: ChunkTask, context: ClientContext): Observable<unknown> {
  const reader = new ChunkReader(task, context);
  return defer(() => {
    let seen = 0;
    return reader.news.pipe(
      startWith(undefined),
      concatMap(() => {
        const fresh = reader.book.kept.slice(seen);
        seen += fresh.length;
        return fresh;
      }),
    );
  });
}

class ChunkReader {
  readonly book: ChunkBook;
  /** Emits when there are more chunks, and ends when the stream does. All subscribers share one run at a time. */
  readonly news: Observable<undefined>;
  #onWire: Observable<unknown> | undefined;

  constructor(
    private readonly task: ChunkTask,
    private readonly context: ClientContext,
  ) {
    this.book = new ChunkBook(task, context.random);
    this.news = defer(() => this.#read()).pipe(share());
  }

  #read(): Observable<undefined> {
    const { task, context, book } = this;
    book.reopen();
    const at = context.scheduler.now() + task.deadlineMs;
    const late = () => throwError(() => new JobError(overdue(task)));
    const rounds = defer(() => this.#round()).pipe(
      repeat({ delay: () => (book.isDrained ? EMPTY : timer(clampTimer(book.waitMs), context.scheduler)) }),
    );
    return concat(
      book.isDrained ? EMPTY : rounds,
      defer(() => this.#end()),
    ).pipe(deadline<undefined>({ at, otherwise: late, scheduler: context.scheduler }));
  }

  /** Requests one answer. The wait at the gate can be left. */
  #round(): Observable<undefined> {
    const before = this.book.kept.length;
    const slot = this.context.slots?.of('poll', true);
    let isSent = false;
    return concat(
      defer(() => {
        this.context.open.check();
        return passGate(this.context, 'poll', this.task.key, slot);
      }).pipe(ignoreElements()),
      defer(() => {
        this.context.open.check();
        // Another subscriber's request has its own slot.
        isSent = this.#onWire === undefined;
        if (!isSent) slot?.release();
        return (this.#onWire ??= this.#ask(slot));
      }).pipe(ignoreElements()),
      defer(() => (this.book.kept.length > before ? of(undefined) : EMPTY)),
    ).pipe(finalize(() => (isSent ? undefined : slot?.release())));
  }

  #ask(slot: RequestSlot | undefined): Observable<unknown> {
    const { key, chunks } = this.task;
    return exchange({ purpose: 'stream', key, request: chunks }, this.context).pipe(
      tap({
        next: (judged) => this.book.enter(judged),
        complete: () => (this.#onWire = undefined),
      }),
      finalize(() => slot?.release()),
      // The request runs to its end without subscribers; a later one joins it.
      share({ resetOnRefCountZero: false, resetOnComplete: false, resetOnError: false }),
    );
  }

  /** Polls how the job ended, only if the chunks do not show it. */
  #end(): Observable<undefined> {
    const { task, context, book } = this;
    if (book.isClosed || book.failure !== undefined) return this.#closed();
    if (book.isWhole) return EMPTY;
    return pollOnce(task, context).pipe(
      concatMap((step) => {
        if (step.type === 'waiting') return EMPTY;
        if (step.type === 'ended') return throwError(() => new JobError(step.outcome));
        if (!isTerminal(step.job.status)) return this.#runsAgain();
        book.close(step.job);
        return concat(of(undefined), this.#closed());
      }),
    );
  }

  /** The job was retried in between. */
  #runsAgain(): Observable<undefined> {
    const { book, context } = this;
    return timer(clampTimer(book.waitMs), context.scheduler).pipe(concatMap(() => this.#read()));
  }

  #closed(): Observable<never> {
    const { failure, gap } = this.book;
    const error = failure === undefined ? gap : new JobError(failure);
    return error === undefined ? EMPTY : throwError(() => error);
  }
}

function overdue({ jobId, chunks, deadlineMs }: ChunkTask): Failed {
  const message = `${whatWasAsked(chunks)}: no end within ${deadlineMs} ms; the job may still run`;
  return { status: 'failed', code: 'deadline', paid: 'maybe', jobId, message };
}

/** Ends that the service itself reports. The reader of the chunks reports them too, after the last chunk. */
const knownToTheService: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'job-failed',
  'job-cancelled',
  'job-timed-out',
  'charged',
  'output-mismatch',
]);

/**
 * Subscribes to a job, so that it is bought, and to its chunks as soon as its id is known. Completes when both have completed.
 * Errors with a `JobError` if the job ends without an id, or in a way that the chunks do not show.
 *
 * @param chunksOf the chunks of a job by its id; called once
 */
export function jobChunks<O, C>(job: Job<O>, chunksOf: (jobId: string) => Observable<C>): Observable<C> {
  let chunks: Observable<C> | undefined;
  return defer(() => {
    let hasBegun = false;
    return job.pipe(
      mergeMap((event) => {
        const { jobId } = job;
        if (event.type === 'settled' && !showsInChunks(event.outcome, jobId)) return fail(event.outcome);
        if (jobId === undefined || hasBegun) return EMPTY;
        hasBegun = true;
        return (chunks ??= chunksOf(jobId));
      }),
    );
  });
}

function showsInChunks(outcome: Outcome<unknown>, jobId: string | undefined): boolean {
  return jobId !== undefined && (outcome.status === 'completed' || knownToTheService.has(outcome.code));
}

function fail(outcome: Outcome<unknown>): Observable<never> {
  return outcome.status === 'failed' ? throwError(() => new JobError(outcome)) : EMPTY;
}
