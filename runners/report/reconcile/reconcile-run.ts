import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { type Charge, readCharges, type StatementColumns } from './read-charges.js';
import { ChargeSearch, claimsOn, isWithin, type Suspects } from './suspect-charges.js';
import { copyOf, type Purchase, readSentTimes, takePurchases } from '../read/read-costs.js';

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
  /** Booked but not charged, without unknown purchases. */
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

export interface ReconcileOptions {
  readonly columns?: StatementColumns;
  /** @defaultValue the real disk */
  readonly disk?: Disk;
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
  options: ReconcileOptions = {},
): Promise<Reconciliation> {
  const { disk = nodeDisk, columns = {} } = options;
  const purchases: Purchase[] = [];
  await takePurchases(disk, folder, (purchase) => purchases.push(copyOf(purchase)));
  const charges = await readCharges(disk, statement, columns);
  const known = purchases.filter(({ jobId }) => jobId !== '');
  const booked = new Map(known.map((purchase) => [purchase.jobId, purchase]));
  const pairs = [...booked.values()].flatMap((purchase) => {
    const charge = charges.get(purchase.jobId);
    return charge === undefined ? [] : [{ purchase, charge }];
  });
  const rest = [...charges.values()].filter(({ jobId, amount }) => !booked.has(jobId) && amount !== 0);
  const unknown = purchases.filter(({ source }) => source === 'unknown');
  const sentTimes = await readSentTimes(disk, folder, unknown);
  const isOfRun = timeTest(purchases, [...sentTimes.values()]);
  const until = [...charges.values()].reduce((most, { at = -Infinity }) => Math.max(most, at), -Infinity);
  return conclude(purchases, pairs, rest.filter(isOfRun), {
    others: rest.filter((charge) => !isOfRun(charge)),
    sentTimes,
    until: until > -Infinity ? until : Infinity,
  });
}

/** The parts of the export that are not the run's own charges. */
interface Surroundings {
  readonly others: readonly Charge[];
  readonly sentTimes: ReadonlyMap<Purchase, number>;
  /** The time of its latest charge. */
  readonly until: number;
}

type Pair = Reconciliation['differing'][number];

function conclude(
  purchases: readonly Purchase[],
  pairs: readonly Pair[],
  unbooked: readonly Charge[],
  { others, sentTimes, until }: Surroundings,
): Reconciliation {
  const chargeOf = new Map(pairs.map(({ purchase, charge }) => [purchase.jobId, charge]));
  const unknown = purchases.filter(({ source }) => source === 'unknown');
  const sure = purchases.filter(({ source }) => source !== 'unknown');
  const surePairs = pairs.filter(({ purchase }) => purchase.source !== 'unknown');
  const differing = surePairs.filter(({ purchase, charge }) => purchase.cost !== charge.amount);
  const byHand = pairByPrice(
    sure.filter(({ jobId, cost }) => jobId === '' && cost > 0),
    unbooked,
  );
  const isPaired = new Set<object>(byHand.flatMap(({ purchase, charge }) => [purchase, charge]));
  const onlyInRun = sure.filter((one) => one.cost > 0 && !chargeOf.has(one.jobId) && !isPaired.has(one));
  const attempts = new Map<string, number>();
  for (const { id, attempt } of purchases) attempts.set(id, Math.max(attempt, attempts.get(id) ?? 0));
  const paidJobs = sure.filter(({ jobId, cost }) => jobId !== '' && cost > 0);
  const isForeign = surePairs.length === 0 && paidJobs.length > 0;
  const isPartial = paidJobs.some(({ jobId, at }) => !chargeOf.has(jobId) && !(at > until));
  const proof = { isForeign, isPartial };
  const held = suspectCharges(unknown, { chargeOf, unbooked, attempts, sentTimes, until, ...proof });
  const claims = claimsOn(held);
  return {
    totals: {
      booked: sumOf(sure.map(({ cost }) => cost)),
      unknown: sumOf(unknown.map(({ cost }) => cost)),
      charged: sumOf([...chargeOf.values(), ...unbooked].map(({ amount }) => amount)),
    },
    matched: surePairs.length - differing.length,
    byHand,
    differing,
    onlyInRun,
    onlyInStatement: unbooked.filter((charge) => claims(charge) === 0 && !isPaired.has(charge)),
    held,
    elsewhere: { count: others.length, amount: sumOf(others.map(({ amount }) => amount)) },
    isEven: differing.length + onlyInRun.length + (unbooked.length - byHand.length) + unknown.length === 0,
  };
}

/** Whether a charge can be of the run by its time; a charge without a time can. */
function timeTest(purchases: readonly Purchase[], sent: readonly number[]): (charge: Charge) => boolean {
  const times = [...purchases.map(({ at }) => at), ...sent].filter((at) => !Number.isNaN(at));
  const from = times.reduce((least, at) => Math.min(least, at), Infinity);
  const to = times.reduce((most, at) => Math.max(most, at), -Infinity);
  return (charge) => isWithin(charge, from, to);
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

function sumOf(amounts: readonly MicroDollars[]): MicroDollars {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

interface Suspicion
  extends Pick<Surroundings, 'sentTimes' | 'until'>, Pick<HeldPurchase, 'isForeign' | 'isPartial'> {
  readonly chargeOf: ReadonlyMap<string, Charge>;
  readonly unbooked: readonly Charge[];
  /** The latest attempt of each row. */
  readonly attempts: ReadonlyMap<string, number>;
}

/** For each purchase in doubt, the charge of its job, or the unbooked charges that may be its own. */
function suspectCharges(
  unknown: readonly Purchase[],
  { chargeOf, unbooked, attempts, sentTimes, until, isForeign, isPartial }: Suspicion,
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
