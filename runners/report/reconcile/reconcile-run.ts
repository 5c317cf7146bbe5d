import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { type Charge, readCharges, type StatementColumns } from './read-charges.js';
import { copyOf, type Purchase, readSentTimes, takePurchases } from '../read/read-costs.js';

/** The purchases of a run held against a billing export. */
export interface Reconciliation {
  /** What the run has booked, without what is unknown; what is unknown; what the export charges for the run. */
  readonly totals: {
    readonly booked: MicroDollars;
    readonly unknown: MicroDollars;
    readonly charged: MicroDollars;
  };
  /** Purchases and charges of the same amount. */
  readonly matched: number;
  /** Purchases without a job id, as a person has settled them, with a charge of their price that no job claims. */
  readonly byHand: readonly { readonly purchase: Purchase; readonly charge: Charge }[];
  /** Charged, but not what was booked. */
  readonly differing: readonly { readonly purchase: Purchase; readonly charge: Charge }[];
  /** Booked and not charged; those that are unknown are not among them. */
  readonly onlyInRun: readonly Purchase[];
  /** Charged in the time of the run and not booked; those that could be of a held row are not among them. */
  readonly onlyInStatement: readonly Charge[];
  /** Held rows, each with the charge of its job, else with those that could be it: unbooked, of its time and price. */
  readonly held: readonly HeldPurchase[];
  /** Charges of other times: of other runs, most likely. */
  readonly elsewhere: { readonly count: number; readonly amount: MicroDollars };
  /** Nothing stands in one and not in the other, and nothing is in doubt. */
  readonly isEven: boolean;
}

/** A purchase that may have been made. */
export interface HeldPurchase {
  readonly purchase: Purchase;
  readonly charges: readonly Charge[];
  /** Its row was bought again since: it is settled by its attempt, and its job can be polled no more. */
  readonly isEarlier: boolean;
  /** When its request left, ms since the epoch; absent where the journal does not know it. */
  readonly sentAt?: number;
  /** The export ends before its request left: that no charge is like it says nothing. */
  readonly isBeyond: boolean;
}

export interface ReconcileOptions {
  readonly columns?: StatementColumns;
  /** @defaultValue the real disk */
  readonly disk?: Disk;
}

/** How far a clock or a booking may lie outside the time of the run. */
const marginMs = 3_600_000;

/**
 * Holds the purchases of a run (costs.csv) against a billing export (CSV) and names what stands in one and not in the
 * other. Sends nothing and changes nothing.
 *
 * @param statement Path of the export.
 * @throws {MillraceError} `statement` where the export cannot be read as one, `statement-columns` where a column is missing
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

/** What the export says beside the charges of the run. */
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
  const held = suspectCharges(unknown, { chargeOf, unbooked, attempts, sentTimes, until });
  const suspected = new Set(held.flatMap(({ charges }) => charges));
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
    onlyInStatement: unbooked.filter((charge) => !suspected.has(charge) && !isPaired.has(charge)),
    held,
    elsewhere: { count: others.length, amount: sumOf(others.map(({ amount }) => amount)) },
    isEven: differing.length + onlyInRun.length + (unbooked.length - byHand.length) + unknown.length === 0,
  };
}

/** Whether a charge can be of the run by its time; one without a time can. */
function timeTest(purchases: readonly Purchase[], sent: readonly number[]): (charge: Charge) => boolean {
  const times = [...purchases.map(({ at }) => at), ...sent].filter((at) => !Number.isNaN(at));
  const from = times.reduce((least, at) => Math.min(least, at), Infinity);
  const to = times.reduce((most, at) => Math.max(most, at), -Infinity);
  return (charge) => isWithin(charge, from, to);
}

function isWithin({ at, slackMs = 0 }: Charge, from: number, to: number): boolean {
  const margin = marginMs + slackMs;
  return at === undefined || (at >= from - margin && at <= to + margin);
}

/** Each purchase with a charge of its own; which of those of one price it is, nobody can say. */
function pairByPrice(purchases: readonly Purchase[], charges: readonly Charge[]): Pair[] {
  const free = new Set(charges);
  return purchases.flatMap((purchase) => {
    const charge = [...free].find(({ amount }) => amount === purchase.cost);
    if (charge === undefined) return [];
    free.delete(charge);
    return [{ purchase, charge }];
  });
}

function sumOf(amounts: readonly MicroDollars[]): MicroDollars {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

interface Suspicion extends Pick<Surroundings, 'sentTimes' | 'until'> {
  readonly chargeOf: ReadonlyMap<string, Charge>;
  readonly unbooked: readonly Charge[];
  /** The latest attempt of each row. */
  readonly attempts: ReadonlyMap<string, number>;
}

/**
 * For each purchase in doubt the charge of its job; else the unbooked charges that could be it: of its price, or of one
 * like it where there is none, and made between its request and the time at which it was given up. A run that was killed
 * gives it up at its next start, perhaps a day later.
 */
function suspectCharges(
  unknown: readonly Purchase[],
  { chargeOf, unbooked, attempts, sentTimes, until }: Suspicion,
): HeldPurchase[] {
  return unknown.map((purchase) => {
    const sentAt = sentTimes.get(purchase);
    const facts = {
      purchase,
      isEarlier: purchase.attempt < (attempts.get(purchase.id) ?? 0),
      isBeyond: (sentAt ?? purchase.at) > until,
      ...(sentAt !== undefined && { sentAt }),
    };
    const own = chargeOf.get(purchase.jobId);
    if (own !== undefined) return { ...facts, charges: [own] };
    const to = Number.isNaN(purchase.at) ? Infinity : purchase.at;
    const ofTime = unbooked.filter((charge) => isWithin(charge, sentAt ?? -Infinity, to));
    const same = ofTime.filter(({ amount }) => amount === purchase.cost);
    const charges = same.length > 0 ? same : ofTime.filter((charge) => isLikePrice(charge, purchase));
    return { ...facts, charges };
  });
}

/** Prices change: a charge of somewhat more or less may be it, and any where no price was known. */
function isLikePrice({ amount }: Charge, { cost }: Purchase): boolean {
  return cost === 0 || (amount > cost / 2 && amount < cost * 2);
}
