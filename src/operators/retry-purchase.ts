import { concatMap, defer, of, type Observable } from 'rxjs';
import { failureCodes, type FailureCode } from '../contract/failure-code.js';
import { checkFunction, checkMembers, checkNames, checkNumber } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import { asJob, cancelJob, checkJob, factsOf, type Job, type ReplaceJob } from './job.js';

/** Options of `retryPurchase`. */
export interface RetryPurchaseOptions {
  /** Further purchases after the first, from 0. */
  maxRetries: number;
  /** The failures after which to buy again. A failure that may be paid for is never bought again. */
  codes: readonly FailureCode[];
}

/**
 * Buys again on purpose: a new job after one that failed with paid `no` and a listed code. Only the last job's `settled` is
 * emitted. It is one run, as a job is one purchase: a second subscriber, `retry` and `repeat` join it and buy nothing; to begin
 * anew, call `retryPurchase` again. It is a job itself: `jobId` is that of the current job, and `cancel` cancels that job,
 * after which nothing more is bought. A budget after it books each purchase.
 *
 * @example
 * ```ts
 * retryPurchase(() => endpoint.run(row), { maxRetries: 2, codes: ['job-failed', 'job-timed-out'] }).pipe(toOutcome());
 * ```
 * @throws InvalidOptionError
 */
export function retryPurchase<O>(make: () => Job<O>, options: RetryPurchaseOptions): Job<O> {
  checkFunction('make', make);
  checkNames(options, 'retryPurchase', ['maxRetries', 'codes']);
  const { maxRetries, codes } = options;
  checkNumber('maxRetries', maxRetries, 'number from 0 on');
  checkMembers('codes', codes, 'list of failure codes', [Symbol.iterator, 'includes']);
  for (const code of codes)
    if (!Object.hasOwn(failureCodes, code))
      throw new InvalidOptionError('codes', `${code} is not a failure code`);
  return new Attempts(make, options).asJob();
}

/** The jobs of one `retryPurchase`, each created once. */
class Attempts<O> {
  private readonly jobs: Job<O>[] = [];
  private isCancelled = false;

  constructor(
    private readonly make: () => Job<O>,
    private readonly options: RetryPurchaseOptions,
  ) {}

  asJob(replace?: ReplaceJob): Job<O> {
    const { jobs } = this;
    const latest = () => jobs.at(-1);
    const isSync = () => factsOf(this.job(0, undefined))?.cannotBeCancelled === true;
    return asJob(this.from(0, replace), {
      get key() {
        return latest()?.key ?? '';
      },
      get jobId() {
        return latest()?.jobId;
      },
      get statusCalls() {
        return jobs.reduce((calls, job) => calls + job.statusCalls, 0);
      },
      get cannotBeCancelled() {
        return isSync();
      },
      cancel: () => {
        this.isCancelled = true;
        return cancelJob(latest() ?? this.job(0));
      },
      eachPurchase: (other) => this.asJob(other),
    });
  }

  private from(attempt: number, replace?: ReplaceJob): Observable<JobEvent<O>> {
    return defer(() => this.job(attempt, replace)).pipe(
      concatMap((event) => {
        const isLast = event.type !== 'settled' || !this.goesOn(attempt, event.outcome);
        return isLast ? of(event) : this.from(attempt + 1, replace);
      }),
    );
  }

  private job(attempt: number, replace?: ReplaceJob): Job<O> {
    const job = (this.jobs[attempt] ??= this.made());
    if (this.isCancelled) cancelJob(job);
    return replace === undefined ? job : replace(job);
  }

  private made(): Job<O> {
    const job = this.make();
    checkJob('make', job);
    return job;
  }

  /**
   * Decides whether to buy again. The decision is kept, even if the job was cancelled since, so that a late subscriber follows
   * the same jobs.
   */
  private goesOn(attempt: number, outcome: Outcome<unknown>): boolean {
    if (attempt + 1 < this.jobs.length) return true;
    const { maxRetries, codes } = this.options;
    if (this.isCancelled || attempt >= maxRetries) return false;
    return outcome.status === 'failed' && outcome.paid === 'no' && codes.includes(outcome.code);
  }
}
