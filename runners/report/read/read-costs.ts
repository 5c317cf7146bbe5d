import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from './read-csv.js';

const sources = ['reported', 'estimated', 'unknown'] as const;
export type PurchaseSource = (typeof sources)[number];

/** A line of costs.csv. */
export interface Purchase {
  readonly id: string;
  readonly row: number;
  readonly attempt: number;
  /** The empty string where no id came back. */
  readonly jobId: string;
  /** The empty string where a purchase has none. */
  readonly resolution: string;
  /** 0 where no price is known. */
  readonly cost: MicroDollars;
  readonly source: PurchaseSource;
  /** ms since the epoch; NaN where the line does not say. */
  readonly at: number;
}

/**
 * The purchases of a run, each once: earlier versions left a line `unknown` in costs.csv beside the one that says later
 * what became of it, and it is left out here. Those that are unknown still come last.
 */
export async function* readCosts(disk: Disk, folder: string): AsyncGenerator<Purchase, void, void> {
  const open = new Map<string, Purchase>();
  for await (const { cells } of readCsv(disk, join(folder, 'costs.csv'))) {
    const purchase = purchaseOf(cells);
    if (purchase === undefined) continue;
    const key = `${purchase.attempt} ${purchase.id}`;
    if (purchase.source === 'unknown') {
      open.set(key, purchase);
      continue;
    }
    open.delete(key);
    yield purchase;
  }
  yield* open.values();
}

function purchaseOf(cells: Readonly<Record<string, string>>): Purchase | undefined {
  const source = sources.find((name) => name === cells['source']);
  const cost = Number(cells['cost']);
  if (source === undefined || !Number.isFinite(cost)) return undefined;
  return {
    id: cells['id'] ?? '',
    row: Number(cells['row']),
    attempt: Number(cells['attempt']),
    jobId: cells['jobId'] ?? '',
    resolution: cells['resolution'] ?? '',
    cost: toMicroDollars(cost),
    source,
    at: Date.parse(cells['settledAt'] ?? ''),
  };
}
