import { concatMap, EMPTY, of, type Observable } from 'rxjs';
import { checkFunction } from '../contract/check-option.js';
import type { Completed, JobEvent, Outcome } from '../contract/outcome.js';
import {
  asJob,
  checkJob,
  factsOf,
  type Job,
  type JobFacts,
  type JobOperator,
  type ReplaceJob,
} from './job.js';

/**
 * Continues with another job when the first one has completed: a pipeline of endpoints. Emits all events of the first job
 * except `settled`, then those of the second. If the first job fails, its failure is the outcome, as a value, and nothing
 * more is bought. `project` is called once for each outcome of the first job, for all subscribers together, so the second
 * job is bought only once, even if a `map` before it makes a new outcome for each subscriber. The cost in the outcome is
 * only that of the second job; a budget after `chainJob` books both. For a job it returns a job: `jobId` is that of the
 * current job, and `cancel` cancels that job, after which nothing more is bought.
 *
 * @example
 * ```ts
 * describe.run({ url }).pipe(chainJob(({ text }) => edit.run({ images: [url], prompt: text })), toOutcome());
 * ```
 */
export function chainJob<A, B>(
  project: (output: A, outcome: Completed<A>) => Observable<JobEvent<B>>,
): JobOperator<A, B> {
  checkFunction('project', project);
  const operator = (first: Observable<JobEvent<A>>) => {
    const chain = new Chain(project);
    const facts = factsOf(first);
    return facts === undefined ? chain.after(first) : jobOf(chain, first as Job<A>, facts);
  };
  return operator as JobOperator<A, B>;
}

/** The second job of a chain, created once for each outcome of the first, for all subscribers. */
class Chain<A, B> {
  /**
   * By the id of the first job, because an outcome that was copied on its way here is that of the same purchase; by the outcome
   * itself for a route, which has no id.
   */
  private readonly made = new Map<string | Completed<A>, Observable<JobEvent<B>>>();
  second: JobFacts<B> | undefined;
  isCancelled = false;

  constructor(private readonly project: (output: A, outcome: Completed<A>) => Observable<JobEvent<B>>) {}

  after(first: Observable<JobEvent<A>>, replace?: ReplaceJob): Observable<JobEvent<B>> {
    return first.pipe(
      concatMap((event): Observable<JobEvent<B>> => {
        if (event.type !== 'settled') return of(event);
        const { outcome } = event;
        if (outcome.status === 'failed') return of({ type: 'settled', outcome });
        const second = this.next(outcome);
        return second === undefined ? of(cancelled(outcome)) : replaced(second, replace);
      }),
    );
  }

  private next(outcome: Completed<A>): Observable<JobEvent<B>> | undefined {
    const key = outcome.jobId === '' ? outcome : outcome.jobId;
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const second = this.isCancelled ? EMPTY : this.project(outcome.output, outcome);
    // `project` itself may have cancelled the chain.
    if (this.isCancelled) return undefined;
    checkJob('project', second);
    this.made.set(key, second);
    this.second = factsOf(second);
    return second;
  }
}

function replaced<B>(job: Observable<JobEvent<B>>, replace: ReplaceJob | undefined): Observable<JobEvent<B>> {
  return replace === undefined || factsOf(job) === undefined ? job : replace(job as Job<B>);
}

function jobOf<A, B>(chain: Chain<A, B>, first: Job<A>, facts: JobFacts<A>, replace?: ReplaceJob): Job<B> {
  return asJob(chain.after(first, replace), {
    key: facts.key,
    get jobId() {
      return chain.second === undefined ? facts.jobId : chain.second.jobId;
    },
    get statusCalls() {
      return facts.statusCalls + (chain.second?.statusCalls ?? 0);
    },
    get cannotBeCancelled() {
      return facts.cannotBeCancelled === true;
    },
    cancel() {
      chain.isCancelled = true;
      const first = facts.cancel() as Observable<Outcome<never>>;
      return chain.second?.cancel() ?? first;
    },
    eachPurchase: (other) => jobOf(chain, other(first), facts, other),
  });
}

function cancelled({ jobId }: Completed<unknown>): JobEvent<never> {
  const message = `cancelled after job ${jobId} had completed: the job that was to follow was not sent`;
  return { type: 'settled', outcome: { status: 'failed', code: 'job-cancelled', paid: 'no', message } };
}
