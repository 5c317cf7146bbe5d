import { defer, finalize, of, tap, type Observable, type OperatorFunction } from 'rxjs';
import { InvalidOptionError } from '../contract/invalid-option-error.js';
import { toMicroDollars, toUsd, type MicroDollars } from '../contract/micro-dollars.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import { isBelievable, reportedCostUsd } from '../contract/reported-cost.js';
import type { Budget } from './create-budget.js';

/**
 * Reserves the price before the job is subscribed; without room nothing is sent, and the one event is `settled` with
 * `over-budget`. Settles at the reported cost, else at the price; a failure that is not paid gives the room back, one
 * that may be paid keeps it, and so does a subscription that ends while the job is under way, also where that cancels the
 * job: nobody is left to hear whether the service was in time. Whoever subscribes to the same job once more hears its end,
 * and the room of a job that was cancelled is given back.
 *
 * Put it next to the job: then all subscriptions to that job share one reservation. Behind another operator each
 * subscription makes its own.
 *
 * @param priceUsd what one purchase is expected to cost, in USD
 *
 * @example
 * ```ts
 * const budget = createBudget(5);
 * pullJobs(rows, (row) => edit.runSync(row).pipe(withinBudget(budget, 0.0875)), { concurrency: 8 });
 * ```
 * @throws InvalidOptionError when the price is no number from 0 on
 */
export function withinBudget<O>(
  budget: Budget,
  priceUsd: number,
): OperatorFunction<JobEvent<O>, JobEvent<O>> {
  if (!(priceUsd >= 0)) throw new InvalidOptionError('priceUsd', `is no number from 0 on (got ${priceUsd})`);
  const price = toMicroDollars(priceUsd);
  return (job) =>
    defer(() => {
      const purchase = 'jobId' in job ? job : {};
      if (!budget.reserve(purchase, price)) return of<JobEvent<O>>(overBudget(price, budget));
      let risk: 'none' | 'sent' | 'accepted' = 'none';
      return job.pipe(
        tap((event) => {
          if (event.type === 'submitting') risk = 'sent';
          else if (event.type === 'settled') book(event.outcome, { budget, purchase, price });
          else if (event.type !== 'waiting') risk = 'accepted';
          else if (risk === 'sent') risk = 'none';
        }),
        finalize(() => {
          if (risk !== 'none' || hasId(job)) budget.keep(purchase);
          else budget.release(purchase);
        }),
      );
    });
}

/** A wait after `submitting` says that the POST was refused, unless the job is known by its id. */
function hasId(job: Observable<unknown>): boolean {
  return 'jobId' in job && typeof job.jobId === 'string' && job.jobId !== '';
}

function book(
  outcome: Outcome<unknown>,
  { budget, purchase, price }: { budget: Budget; purchase: object; price: MicroDollars },
): void {
  if (outcome.status === 'completed') {
    budget.settle(purchase, believed(outcome.costUsd, price));
  } else if (outcome.paid === 'no') {
    budget.settle(purchase, 0);
  } else if (outcome.paid === 'yes') {
    budget.settle(purchase, believed(reportedCostUsd(outcome.output), price));
  } else {
    budget.keep(purchase);
  }
}

/** The reported cost; the price where none is reported or where it is not believed. */
function believed(costUsd: number | null, price: MicroDollars): MicroDollars {
  const cost = costUsd === null ? Number.NaN : toMicroDollars(costUsd);
  return isBelievable(cost, price) ? cost : price;
}

function overBudget(price: MicroDollars, budget: Budget): JobEvent<never> {
  const { capUsd, reservedUsd, spentUsd, unknownUsd } = budget.state();
  const taken = `spent $${spentUsd}, reserved $${reservedUsd}, unknown $${unknownUsd}`;
  const message = `no room for $${toUsd(price)} under the cap of $${capUsd} (${taken}); nothing was sent`;
  return { type: 'settled', outcome: { status: 'failed', code: 'over-budget', paid: 'no', message } };
}
