import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { type Charge, readCharges } from './read-charges.js';
import { type Purchase, readCosts } from '../read/read-costs.js';
import type { StatementColumns } from './statement-columns.js';

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
  /** Charged, but not what was booked. */
  readonly differing: readonly { readonly purchase: Purchase; readonly charge: Charge }[];
  /** Booked and not charged; those that are unknown are not among them. */
  readonly onlyInRun: readonly Purchase[];
  /** Charged in the time of the run and not booked; those that could be of a held row are not among them. */
  readonly onlyInStatement: readonly Charge[];
  /** Held rows, each with the charge of its job, else with those that could be it: unbooked, same price, same hour. */
  readonly held: readonly { readonly purchase: Purchase; readonly charges: readonly Charge[] }[];
  /** Charges of other times: of other runs, most likely. */
  readonly elsewhere: { readonly count: number; readonly amount: MicroDollars };
  /** Nothing stands in one and not in the other, and nothing is in doubt. */
  readonly isEven: boolean;
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
  for await (const purchase of readCosts(disk, folder)) purchases.push(purchase);
  const charges = await readCharges(disk, statement, columns);
  const known = purchases.filter(({ jobId }) => jobId !== '');
  const booked = new Map(known.map((purchase) => [purchase.jobId, purchase]));
  const pairs = [...booked.values()].flatMap((purchase) => {
    const charge = charges.get(purchase.jobId);
    return charge === undefined ? [] : [{ purchase, charge }];
  });
  const rest = [...charges.values()].filter(({ jobId, amount }) => !booked.has(jobId) && amount !== 0);
  const isOfRun = timeTest(purchases);
  const onlyInStatement = rest.filter(isOfRun);
  return conclude(
    purchases,
    pairs,
    onlyInStatement,
    rest.filter((charge) => !isOfRun(charge)),
  );
}

type Pair = Reconciliation['differing'][number];

function conclude(
  purchases: readonly Purchase[],
  pairs: readonly Pair[],
  unbooked: readonly Charge[],
  others: readonly Charge[],
): Reconciliation {
  const chargeOf = new Map(pairs.map(({ purchase, charge }) => [purchase.jobId, charge]));
  const unknown = purchases.filter(({ source }) => source === 'unknown');
  const sure = purchases.filter(({ source }) => source !== 'unknown');
  const surePairs = pairs.filter(({ purchase }) => purchase.source !== 'unknown');
  const differing = surePairs.filter(({ purchase, charge }) => purchase.cost !== charge.amount);
  const onlyInRun = sure.filter(({ jobId, cost }) => cost > 0 && !chargeOf.has(jobId));
  const held = suspectCharges(unknown, chargeOf, unbooked);
  const suspected = new Set(held.flatMap(({ charges }) => charges));
  return {
    totals: {
      booked: sumOf(sure.map(({ cost }) => cost)),
      unknown: sumOf(unknown.map(({ cost }) => cost)),
      charged: sumOf([...chargeOf.values(), ...unbooked].map(({ amount }) => amount)),
    },
    matched: surePairs.length - differing.length,
    differing,
    onlyInRun,
    onlyInStatement: unbooked.filter((charge) => !suspected.has(charge)),
    held,
    elsewhere: { count: others.length, amount: sumOf(others.map(({ amount }) => amount)) },
    isEven: differing.length + onlyInRun.length + unbooked.length + unknown.length === 0,
  };
}

/** Whether a charge can be of the run by its time; one without a time can. */
function timeTest(purchases: readonly Purchase[]): (charge: Charge) => boolean {
  const times = purchases.map(({ at }) => at).filter((at) => !Number.isNaN(at));
  const from = times.reduce((least, at) => Math.min(least, at), Infinity) - marginMs;
  const to = times.reduce((most, at) => Math.max(most, at), -Infinity) + marginMs;
  return ({ at }) => at === undefined || (at >= from && at <= to);
}

function sumOf(amounts: readonly MicroDollars[]): MicroDollars {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

const nearMs = 3_600_000;

/** For each purchase in doubt the charge of its job; else the unbooked charges that could be it: same price, within an hour. */
function suspectCharges(
  unknown: readonly Purchase[],
  chargeOf: ReadonlyMap<string, Charge>,
  unbooked: readonly Charge[],
): { purchase: Purchase; charges: Charge[] }[] {
  const byAmount = new Map<number, Charge[]>();
  for (const charge of unbooked) {
    const alike = byAmount.get(charge.amount);
    if (alike === undefined) byAmount.set(charge.amount, [charge]);
    else alike.push(charge);
  }
  return unknown.map((purchase) => {
    const own = chargeOf.get(purchase.jobId);
    if (own !== undefined) return { purchase, charges: [own] };
    const alike = byAmount.get(purchase.cost) ?? [];
    return {
      purchase,
      charges: alike.filter(({ at }) => at === undefined || Math.abs(at - purchase.at) <= nearMs),
    };
  });
}
