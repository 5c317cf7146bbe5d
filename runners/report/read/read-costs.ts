import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { unescapeFormula } from '../../batch/manifest/columns/formula-text.js';
import { readCsv } from './read-csv.js';
import { readJsonl, recordKind } from './read-jsonl.js';

const sources = ['reported', 'estimated', 'unknown'] as const;
export type PurchaseSource = (typeof sources)[number];

/** A line of costs.csv. */
export interface Purchase {
  readonly id: string;
  readonly row: number;
  readonly attempt: number;
  /** Empty if no id came back. */
  readonly jobId: string;
  /** Empty if the purchase has none. */
  readonly resolution: string;
  /** 0 if no price is known. */
  readonly cost: MicroDollars;
  readonly source: PurchaseSource;
  /** ms since the epoch; NaN if the line has no time. */
  readonly at: number;
}

/**
 * The purchases of a run, each once. Earlier versions kept an `unknown` line in costs.csv beside the later line of
 * the same purchase; such a line is left out here. Purchases that are still unknown come last.
 */
export async function takePurchases(
  disk: Disk,
  folder: string,
  take: (purchase: Purchase) => void,
): Promise<void> {
  const open = new Map<string, Purchase>();
  for await (const { cells } of readCsv(disk, join(folder, 'costs.csv'))) {
    const purchase = purchaseOf(cells);
    if (purchase?.source === 'unknown') open.set(keyOf(purchase), purchase);
    else if (purchase !== undefined) {
      if (open.size > 0) open.delete(keyOf(purchase));
      take(purchase);
    }
  }
  for (const purchase of open.values()) take(purchase);
}

function keyOf({ attempt, id }: Pick<Purchase, 'attempt' | 'id'>): string {
  return `${attempt} ${id}`;
}

/** `undefined` for a line without a source or an amount. */
function purchaseOf(cells: Readonly<Record<string, string>>): Purchase | undefined {
  const source = sources.find((one) => one === cells['source']);
  const amount = Number(cells['cost']);
  if (source === undefined || !Number.isFinite(amount)) return undefined;
  return {
    id: unescapeFormula(cells['id'] ?? ''),
    row: Number(cells['row']),
    attempt: Number(cells['attempt']),
    jobId: unescapeFormula(cells['jobId'] ?? ''),
    resolution: cells['resolution'] ?? '',
    cost: toMicroDollars(amount),
    source,
    at: Date.parse(cells['settledAt'] ?? ''),
  };
}

/** With more ids than this, a line is parsed instead of searched. */
const mostNeedles = 20;

/**
 * When the requests of these purchases were sent, ms since the epoch, from the journal's intents: after a kill, a
 * request without an answer is settled much later. One pass over the journal; a purchase that it does not have is
 * missing.
 */
export async function readSentTimes(
  disk: Disk,
  folder: string,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<Purchase, number>> {
  const byName = new Map(purchases.map((purchase) => [keyOf(purchase), purchase]));
  const times = new Map<Purchase, number>();
  if (byName.size === 0) return times;
  const ids = [...new Set(purchases.map(({ id }) => id))];
  const needles = ids.map((id) => `"id":${JSON.stringify(id)}`);
  const wanted = (line: Buffer): boolean =>
    recordKind(line) === 'intent' &&
    (needles.length > mostNeedles || needles.some((needle) => line.includes(needle)));
  for await (const { id, attempt, at } of readJsonl(disk, join(folder, 'journal.jsonl'), wanted)) {
    const purchase = byName.get(keyOf({ id: String(id), attempt: Number(attempt) }));
    if (purchase !== undefined && typeof at === 'number') times.set(purchase, at);
  }
  return times;
}
