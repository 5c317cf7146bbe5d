import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { unescapeFormula } from '../../batch/manifest/columns/formula-text.js';
import { IsoTimes } from './iso-time.js';
import type { CsvRecord } from './csv-record.js';
import { scanCsv } from './read-csv.js';
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
 *
 * @param take called with the same object for every purchase: copy it to keep it
 */
export async function takePurchases(
  disk: Disk,
  folder: string,
  take: (purchase: Purchase) => void,
): Promise<void> {
  const open = new Map<string, Purchase>();
  // Nearly all lines have ids that are not open, as their hashes show.
  const openIds = new Set<number>();
  const times = new IsoTimes();
  let line: PurchaseLine | undefined;
  await scanCsv(disk, join(folder, 'costs.csv'), (record, names) => {
    line ??= new PurchaseLine(record, names, times);
    if (!line.isPurchase()) return;
    if (line.source === 'unknown') {
      open.set(keyOf(line), copyOf(line));
      openIds.add(line.idHash);
    } else {
      if (openIds.size > 0 && openIds.has(line.idHash)) open.delete(keyOf(line));
      take(line);
    }
  });
  for (const purchase of open.values()) take(purchase);
}

function keyOf({ attempt, id }: Pick<Purchase, 'attempt' | 'id'>): string {
  return `${attempt} ${id}`;
}

export function copyOf({ id, row, attempt, jobId, resolution, cost, source, at }: Purchase): Purchase {
  return { id, row, attempt, jobId, resolution, cost, source, at };
}

const columns = ['id', 'row', 'attempt', 'jobId', 'resolution', 'cost', 'source', 'settledAt'] as const;

/** The current record. Only cells that are read are created. */
class PurchaseLine implements Purchase {
  source: PurchaseSource = 'unknown';
  cost = 0;
  private readonly places: Readonly<Record<(typeof columns)[number], number>>;

  constructor(
    private readonly record: CsvRecord,
    names: readonly string[],
    private readonly times: IsoTimes,
  ) {
    const places = columns.map((name) => [name, names.indexOf(name)] as const);
    this.places = Object.fromEntries(places) as typeof this.places;
  }

  /** Whether the line has a source and an amount. Call this first. */
  isPurchase(): boolean {
    const name = this.record.text(this.places.source);
    const source = sources.find((one) => one === name);
    const amount = this.record.number(this.places.cost);
    if (source === undefined || !Number.isFinite(amount)) return false;
    this.source = source;
    this.cost = toMicroDollars(amount);
    return true;
  }

  get id(): string {
    return unescapeFormula(this.record.text(this.places.id));
  }

  get idHash(): number {
    return this.record.hash(this.places.id);
  }

  get row(): number {
    return this.record.number(this.places.row);
  }

  get attempt(): number {
    return this.record.number(this.places.attempt);
  }

  get jobId(): string {
    return unescapeFormula(this.record.text(this.places.jobId));
  }

  get resolution(): string {
    return this.record.text(this.places.resolution);
  }

  get at(): number {
    return this.record.time(this.places.settledAt, this.times);
  }
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
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted)) {
    const { id, attempt, at } = value;
    const purchase = byName.get(keyOf({ id: String(id), attempt: Number(attempt) }));
    if (purchase !== undefined && typeof at === 'number') times.set(purchase, at);
  }
  return times;
}
