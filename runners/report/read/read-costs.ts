import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
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
 *
 * @param take Called with one object for all of them: who keeps one takes a copy.
 */
export async function takePurchases(
  disk: Disk,
  folder: string,
  take: (purchase: Purchase) => void,
): Promise<void> {
  const open = new Map<string, Purchase>();
  // Nearly all lines are of ids that are not open, and their hashes say so.
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

function keyOf({ attempt, id }: Purchase): string {
  return `${attempt} ${id}`;
}

/** One that stays. */
export function copyOf({ id, row, attempt, jobId, resolution, cost, source, at }: Purchase): Purchase {
  return { id, row, attempt, jobId, resolution, cost, source, at };
}

const columns = ['id', 'row', 'attempt', 'jobId', 'resolution', 'cost', 'source', 'settledAt'] as const;

/** The record that is read just now; of its cells only those that are asked for are made. */
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

  /** False: it has no source or no amount. Asked before all else. */
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
    return this.record.text(this.places.id);
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
    return this.record.text(this.places.jobId);
  }

  get resolution(): string {
    return this.record.text(this.places.resolution);
  }

  get at(): number {
    return this.record.time(this.places.settledAt, this.times);
  }
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
