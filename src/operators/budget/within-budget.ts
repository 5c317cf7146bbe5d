import { defer, finalize, of, tap, type Observable } from 'rxjs';
import { checkMembers, checkNumber } from '../../contract/check-option.js';
import {
  formatMoney,
  toMicroDollars,
  type MicroDollars,
  reportedCostUsd,
} from '../../contract/micro-dollars.js';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { callHook } from '../../policy/guard-hooks.js';
import type { Budget } from './create-budget.js';
import { asJob, factsOf, type Job, type JobOperator, type Watched } from '../job.js';

/**
 * Reserves the price before the job is subscribed. If it does not fit, nothing is sent, and the only event is `settled` with
 * `over-budget`: `paid` no, or maybe for a job that has its id already, as one of `attach` has. Books the reported cost, or else
 * the price. A failure that is not paid releases the reservation; one that may be paid keeps it. A job that is left while it
 * runs keeps it too, until the service reports its end, even if that is only the answer to its /cancel.
 *
 * The budget recognises jobs by their ids: `attach` of a job that is counted already reserves nothing (of those that have
 * ended, the last 10,000 are recognised). In `chainJob` and
 * `retryPurchase` each purchase reserves the price when its turn comes, and is booked separately. A job stays a job: it can be
 * cancelled, iterated, and given to `switchJobs`. All subscriptions to one job share one reservation; each subscription to a
 * stream that is not a job has its own.
 *
 * @param priceUsd the expected price of one purchase, in USD
 *
 * @example
 * ```ts
 * const budget = createBudget(5);
 * pullJobs(rows, (row) => edit.runSync(row).pipe(withinBudget(budget, 0.0875)), { concurrency: 8 });
 * ```
 * @throws InvalidOptionError if the price is not a number of at least 0
 */
export function withinBudget<O>(budget: Budget, priceUsd: number): JobOperator<O, O> {
  checkMembers('budget', budget, 'budget', ['reserve', 'release', 'keep', 'settle', 'state']);
  checkNumber('priceUsd', priceUsd, 'number from 0 on');
  const price = toMicroDollars(priceUsd);
  const within = <P>(job: Job<P>): Job<P> => {
    const facts = factsOf(job);
    if (facts?.eachPurchase !== undefined) return facts.eachPurchase(within);
    const booking = new Booking(budget, price, job);
    const events = booked(job, () => booking);
    return facts === undefined ? (events as Job<P>) : asJob(events, facts);
  };
  const operator = (events: Observable<JobEvent<O>>) =>
    'jobId' in events ? within(events as Job<O>) : booked(events, () => new Booking(budget, price, {}));
  return operator as JobOperator<O, O>;
}

function booked<O>(events: Observable<JobEvent<O>>, bookingOf: () => Booking): Observable<JobEvent<O>> {
  return defer(() => {
    const booking = bookingOf();
    if (!booking.enter()) return of<JobEvent<O>>(booking.overBudget());
    return events.pipe(
      tap((event) => booking.observe(event)),
      finalize(() => callHook(() => booking.leave())),
    );
  });
}

/** The reservation of one purchase, from its beginning to its end. */
class Booking {
  private subscriptions = 0;
  private isHeld = false;
  private isWatched = false;
  /** How far its last POST may have come. */
  private risk: 'none' | 'sent' | 'accepted' = 'none';

  constructor(
    private readonly budget: Budget,
    private readonly price: MicroDollars,
    private readonly purchase: object | Job<unknown>,
  ) {}

  /** Adds a subscription. Returns false if the price does not fit under the cap. */
  enter(): boolean {
    const { budget, purchase, price } = this;
    this.isHeld ||= budget.reserve(purchase, price, this.facts()?.address);
    if (!this.isHeld) return false;
    this.subscriptions += 1;
    if (!this.isWatched) this.facts()?.watch?.((event) => this.observe(event));
    this.isWatched = true;
    return true;
  }

  /** Removes a subscription. The price of a purchase that was sent is kept until its end is known. */
  leave(): void {
    this.subscriptions -= 1;
    if (this.subscriptions > 0) return;
    if (this.risk === 'none' && this.jobId() === undefined) this.release();
    else this.budget.keep(this.purchase);
  }

  /** An error of a budget of the user is reported, and ends no purchase. */
  observe(event: Watched): void {
    callHook(() => this.identify());
    callHook(() => this.follow(event));
  }

  private identify(): void {
    const address = this.facts()?.address;
    if (address !== undefined) this.budget.identify?.(this.purchase, address);
  }

  /** Ignores repeated events, because subscriptions and the job itself report the same ones. */
  private follow(event: Watched): void {
    if (event.type === 'settled') this.book(event.outcome);
    else if (event.type === 'submitting') this.risk = 'sent';
    else if (event.type !== 'waiting' && event.type !== 'refused') this.risk = 'accepted';
    else if (this.risk === 'sent') this.refused();
  }

  overBudget(): JobEvent<never> {
    const { capUsd, reservedUsd, spentUsd, unknownUsd } = this.budget.state();
    const [cap, spent, reserved, unknown] = [capUsd, spentUsd, reservedUsd, unknownUsd].map((usd) =>
      formatMoney(toMicroDollars(usd)),
    );
    const taken = `spent ${spent}, reserved ${reserved}, unknown ${unknown}`;
    const message = `no room for ${formatMoney(this.price)} under the cap of ${cap} (${taken}); nothing was sent`;
    const failed = { status: 'failed', code: 'over-budget', paid: 'no', message } as const;
    const jobId = this.jobId();
    if (jobId === undefined) return { type: 'settled', outcome: failed };
    const bought = `job ${jobId} was bought before; attach it with a higher cap, or without a budget`;
    return {
      type: 'settled',
      outcome: { ...failed, paid: 'maybe', jobId, message: `${message}; ${bought}` },
    };
  }

  private facts() {
    return factsOf(this.purchase as Observable<JobEvent<unknown>>);
  }

  /** The id of the job at the service; `undefined` while it has none. */
  private jobId(): string | undefined {
    const { purchase } = this;
    return 'jobId' in purchase && purchase.jobId !== '' ? purchase.jobId : undefined;
  }

  /** Nothing was bought so far. Without a subscriber there will be no further try. */
  private refused(): void {
    this.risk = 'none';
    this.budget.refused?.(this.purchase);
    if (this.subscriptions === 0 && this.jobId() === undefined) this.release();
  }

  private release(): void {
    if (this.isHeld) this.budget.release(this.purchase);
    this.isHeld = false;
  }

  private book(outcome: Outcome<unknown>): void {
    const { budget, purchase, price } = this;
    const costOf = (usd: number | null) => (usd === null ? price : toMicroDollars(usd));
    if (outcome.status === 'completed') budget.settle(purchase, costOf(outcome.costUsd));
    else if (outcome.paid === 'no') budget.settle(purchase, 0);
    else if (outcome.paid === 'yes') budget.settle(purchase, costOf(reportedCostUsd(outcome.output)));
    else budget.keep(purchase);
  }
}
