import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { IsoTimes } from './iso-time.js';
import { readCsvBlocks } from './read-csv.js';
import { readJsonl, recordKind } from './read-jsonl.js';

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
  for await (const purchases of readCostBlocks(disk, folder)) yield* purchases;
}

/** The same, some thousand at a time: for millions of purchases. */
export async function* readCostBlocks(
  disk: Disk,
  folder: string,
): AsyncGenerator<readonly Purchase[], void, void> {
  const open = new Map<string, Purchase>();
  const times = new IsoTimes();
  for await (const { names, rows } of readCsvBlocks(disk, join(folder, 'costs.csv'))) {
    const known: Purchase[] = [];
    const places = columns.map((name) => names.indexOf(name));
    for (const { cells } of rows) {
      const purchase = purchaseOf(cells, places, times);
      if (purchase?.source === 'unknown') open.set(keyOf(purchase), purchase);
      else if (purchase !== undefined) {
        if (open.size > 0) open.delete(keyOf(purchase));
        known.push(purchase);
      }
    }
    yield known;
  }
  yield [...open.values()];
}

function keyOf({ attempt, id }: Purchase): string {
  return `${attempt} ${id}`;
}

const columns = ['id', 'row', 'attempt', 'jobId', 'resolution', 'cost', 'source', 'settledAt'];

function purchaseOf(
  cells: readonly string[],
  [id = -1, row = -1, attempt = -1, jobId = -1, resolution = -1, cost = -1, source = -1, at = -1]: number[],
  times: IsoTimes,
): Purchase | undefined {
  const from = sources.find((name) => name === cells[source]);
  const amount = cost < 0 ? Number.NaN : Number(cells[cost] ?? '');
  if (from === undefined || !Number.isFinite(amount)) return undefined;
  return {
    id: cells[id] ?? '',
    row: Number(cells[row]),
    attempt: Number(cells[attempt]),
    jobId: cells[jobId] ?? '',
    resolution: cells[resolution] ?? '',
    cost: toMicroDollars(amount),
    source: from,
    at: times.of(cells[at] ?? ''),
  };
}

/** More ids than this are not looked for in the bytes of a line: it is parsed. */
const mostNeedles = 20;

/**
 * When the requests of these purchases left, ms since the epoch, as the journal's intents say: a request without an answer
 * is settled much later where its run was killed. One pass over the journal; a purchase that it does not know is missing.
 */
export async function readSentTimes(
  disk: Disk,
  folder: string,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<Purchase, number>> {
  const byName = new Map(purchases.map((purchase) => [nameOf(purchase.id, purchase.attempt), purchase]));
  const times = new Map<Purchase, number>();
  if (byName.size === 0) return times;
  const ids = [...new Set(purchases.map(({ id }) => id))];
  const needles = ids.map((id) => `"id":${JSON.stringify(id)}`);
  const wanted = (line: Buffer): boolean =>
    recordKind(line) === 'intent' &&
    (needles.length > mostNeedles || needles.some((needle) => line.includes(needle)));
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted)) {
    const { id, attempt, at } = value;
    const purchase = byName.get(nameOf(String(id), Number(attempt)));
    if (purchase !== undefined && typeof at === 'number') times.set(purchase, at);
  }
  return times;
}

function nameOf(id: string, attempt: number): string {
  return `${attempt} ${id}`;
}
