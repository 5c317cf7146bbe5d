import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { type Charge, readCharges, type StatementColumns } from './read-charges.js';
import { ChargeSearch, claimsOn, isWithin, type Suspects } from './suspect-charges.js';
import { type Purchase, readSentTimes, takePurchases } from '../read/read-costs.js';

/** The purchases of a run compared with a billing export. */
export interface Reconciliation {
  /** Money: booked by the run (without unknown), unknown, and charged by the export for the run. */
  readonly totals: {
    readonly booked: MicroDollars;
    readonly unknown: MicroDollars;
    readonly charged: MicroDollars;
  };
  /** How many purchases have a charge of the same amount. */
  readonly matched: number;
  /** Purchases that were settled by hand without a job id, with a charge of their price that belongs to no job of the run. */
  readonly byHand: readonly { readonly purchase: Purchase; readonly charge: Charge }[];
  /** Charged with another amount than booked. */
  readonly differing: readonly { readonly purchase: Purchase; readonly charge: Charge }[];
  readonly onlyInRun: readonly Purchase[];
  /** Charged during the run but not booked, without charges that may belong to a held row. */
  readonly onlyInStatement: readonly Charge[];
  /** Held rows. Each has the charge of its job, or the unbooked charges that may be its own by time and price. */
  readonly held: readonly HeldPurchase[];
  /** Charges of other times: most likely of other runs. */
  readonly elsewhere: { readonly count: number; readonly amount: MicroDollars };
  /** Whether run and export have the same purchases at the same prices, and nothing is in doubt. */
  readonly isEven: boolean;
}

/** A purchase that may have been made. */
export interface HeldPurchase extends Suspects {
  readonly purchase: Purchase;
  /** Its row was bought again since: it is settled by its attempt, and its job can no longer be polled. */
  readonly isEarlier: boolean;
  /** When its request was sent, ms since the epoch; absent if the journal does not have it. */
  readonly sentAt?: number;
  /** Whether the export ends before the request was sent: then a missing charge proves nothing. */
  readonly isBeyond: boolean;
  /**
   * Whether the export has none of the run's known jobs that cost something, like an export of another account: then a missing
   * charge proves nothing.
   */
  readonly isForeign: boolean;
  /**
   * The export lacks jobs that ended before its end and cost something, as one page of several or one endpoint of two: a
   * missing charge proves nothing.
   */
  readonly isPartial: boolean;
}

/**
 * Compares the purchases of a run (costs.csv) with a billing export (CSV), and names those that only one of them has. Sends and
 * changes nothing.
 *
 * @param statement path of the export
 * @throws {MillraceError} `statement` if the export cannot be read, `statement-columns` if a column is missing
 */
export async function reconcileRun(
  folder: string,
  statement: string,
  columns: StatementColumns = {},
): Promise<Reconciliation> {
  const charges = await readCharges(nodeDisk, statement, columns);
  const books = new Books(charges);
  // Nearly all purchases are matched, and none of those is kept: a run may have millions.
  await takePurchases(nodeDisk, folder, (purchase) => {
    if (purchase.source === 'unknown') books.addUnknown(purchase);
  });
  await takePurchases(nodeDisk, folder, (purchase) => books.take(purchase));
  const sentTimes = await readSentTimes(nodeDisk, folder, books.unknown);
  return conclude(books, charges, sentTimes);
}

/** What a comparison keeps of the purchases of a run. */
class Books {
  readonly unknown: Purchase[] = [];
  /** The latest attempt of each row in doubt. */
  readonly attempts = new Map<string, number>();
  /** Purchases of known costs that cost something, and whose job has no charge. */
  readonly uncharged: Purchase[] = [];
  /** The charges that are booked, each with its last purchase, unless that is of the same amount and not in doubt. */
  readonly booked = new Map<Charge, Purchase | undefined>();
  readonly totals = { booked: 0, unknown: 0 };
  readonly time = { from: Infinity, to: -Infinity };
  /** The time of the latest charge. */
  readonly until: number;
  isPartial = false;
  hasPaidJobs = false;

  constructor(private readonly charges: ReadonlyMap<string, Charge>) {
    let until = -Infinity;
    for (const { at = -Infinity } of charges.values()) until = Math.max(until, at);
    this.until = until > -Infinity ? until : Infinity;
  }

  addUnknown(purchase: Purchase): void {
    this.unknown.push(purchase);
    this.attempts.set(purchase.id, 0);
  }

  /** Call it with every purchase, once those in doubt are known. */
  take(purchase: Purchase): void {
    const { id, attempt, jobId, cost, source, at } = purchase;
    const latest = this.attempts.get(id);
    if (latest !== undefined) this.attempts.set(id, Math.max(attempt, latest));
    this.addTime(at);
    const isUnknown = source === 'unknown';
    this.totals[isUnknown ? 'unknown' : 'booked'] += cost;
    const charge = jobId === '' ? undefined : this.charges.get(jobId);
    const isMatched = !isUnknown && charge?.amount === cost;
    if (charge !== undefined) this.booked.set(charge, isMatched ? undefined : purchase);
    if (isUnknown || cost <= 0) return;
    if (jobId !== '') this.hasPaidJobs = true;
    if (charge !== undefined) return;
    this.uncharged.push(purchase);
    if (jobId !== '' && !(at > this.until)) this.isPartial = true;
  }

  /** When a request was sent, or a purchase ended. */
  addTime(at: number): void {
    if (Number.isNaN(at)) return;
    this.time.from = Math.min(this.time.from, at);
    this.time.to = Math.max(this.time.to, at);
  }
}

type Pair = Reconciliation['differing'][number];

function conclude(
  books: Books,
  charges: ReadonlyMap<string, Charge>,
  sentTimes: ReadonlyMap<Purchase, number>,
): Reconciliation {
  const { unknown, uncharged, booked, totals, time } = books;
  for (const at of sentTimes.values()) books.addTime(at);
  const [unbooked, others]: [Charge[], Charge[]] = [[], []];
  for (const charge of charges.values())
    if (!booked.has(charge) && charge.amount !== 0)
      (isWithin(charge, time.from, time.to) ? unbooked : others).push(charge);
  const chargeOf = new Map<string, Charge>();
  const differing: Pair[] = [];
  let matched = 0;
  for (const [charge, purchase] of booked) {
    if (purchase === undefined) matched++;
    else if (purchase.source === 'unknown') chargeOf.set(charge.jobId, charge);
    else differing.push({ purchase, charge });
  }
  const byHand = pairByPrice(
    uncharged.filter(({ jobId }) => jobId === ''),
    unbooked,
  );
  const isPaired = new Set<object>(byHand.flatMap(({ purchase, charge }) => [purchase, charge]));
  const onlyInRun = uncharged.filter((one) => !isPaired.has(one));
  const isForeign = matched + differing.length === 0 && books.hasPaidJobs;
  const held = suspectCharges(books, { chargeOf, unbooked, sentTimes, isForeign });
  const claims = claimsOn(held);
  return {
    totals: { ...totals, charged: sumOf(booked.keys()) + sumOf(unbooked) },
    matched,
    byHand,
    differing,
    onlyInRun,
    onlyInStatement: unbooked.filter((charge) => claims(charge) === 0 && !isPaired.has(charge)),
    held,
    elsewhere: { count: others.length, amount: sumOf(others) },
    isEven: differing.length + onlyInRun.length + (unbooked.length - byHand.length) + unknown.length === 0,
  };
}

/** Gives each purchase a charge of its price; among equal prices the choice is arbitrary. */
function pairByPrice(purchases: readonly Purchase[], charges: readonly Charge[]): Pair[] {
  const free = new Map<MicroDollars, Charge[]>();
  for (const charge of [...charges].reverse()) {
    const ofPrice = free.get(charge.amount);
    if (ofPrice === undefined) free.set(charge.amount, [charge]);
    else ofPrice.push(charge);
  }
  return purchases.flatMap((purchase) => {
    const charge = free.get(purchase.cost)?.pop();
    return charge === undefined ? [] : [{ purchase, charge }];
  });
}

function sumOf(charges: Iterable<Charge>): MicroDollars {
  let sum = 0;
  for (const { amount } of charges) sum += amount;
  return sum;
}

interface Suspicion extends Pick<HeldPurchase, 'isForeign'> {
  /** The charges of the jobs of purchases in doubt. */
  readonly chargeOf: ReadonlyMap<string, Charge>;
  readonly unbooked: readonly Charge[];
  readonly sentTimes: ReadonlyMap<Purchase, number>;
}

/** For each purchase in doubt, the charge of its job, or the unbooked charges that may be its own. */
function suspectCharges(
  { unknown, attempts, until, isPartial }: Books,
  { chargeOf, unbooked, sentTimes, isForeign }: Suspicion,
): HeldPurchase[] {
  const search = new ChargeSearch(unbooked);
  return unknown.map((purchase) => {
    const sentAt = sentTimes.get(purchase);
    const own = chargeOf.get(purchase.jobId);
    return {
      purchase,
      isEarlier: purchase.attempt < (attempts.get(purchase.id) ?? 0),
      isBeyond: (sentAt ?? purchase.at) > until,
      isForeign,
      isPartial,
      ...(sentAt !== undefined && { sentAt }),
      ...(own === undefined ? search.suspectsOf(purchase, sentAt) : ownCharge(own)),
    };
  });
}

function ownCharge(own: Charge): Suspects {
  return { charges: [own], hasMore: false, mayBe: (charge) => charge === own };
}
