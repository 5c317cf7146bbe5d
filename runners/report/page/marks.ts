import type { PageData, PageRow } from '../page-data.js';
import type { Mark } from './mark.js';
import { promptOf } from './row-store.js';

export interface Change {
  readonly prompt?: string | undefined;
  readonly resolution?: string | undefined;
}

/** The rejected rows by id; kept by the browser under the run's key where it lets us. */
export interface Marks {
  readonly all: ReadonlyMap<string, Mark>;
  /** The mark of a row as it is now: one of an earlier picture is dropped. */
  of(row: PageRow): Mark | undefined;
  toggle(row: PageRow, index: number): void;
  change(row: PageRow, index: number, change: Change): void;
  clear(): void;
  onChange(listener: () => void): void;
}

export function openMarks(data: PageData): Marks {
  const key = `millrace ${data.run.key}`;
  const all = new Map<string, Mark>(readKept(key));
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    keep(key, all);
    for (const listener of listeners) listener();
  };
  const put = (row: PageRow, index: number, change: Change): void => {
    const prompt = change.prompt === promptOf(row) ? undefined : change.prompt;
    const resolution = change.resolution === resolutionOf(row) ? undefined : change.resolution;
    all.set(row.id, {
      index,
      of: purchaseOf(row),
      failed: row.status !== 'completed',
      ...(prompt === undefined ? {} : { prompt }),
      ...(resolution === undefined ? {} : { resolution }),
      cost: priceOf(row, resolution, data.prices),
    });
    changed();
  };
  return {
    all,
    of(row) {
      const mark = all.get(row.id);
      if (mark === undefined || mark.of === purchaseOf(row)) return mark;
      all.delete(row.id);
      queueMicrotask(changed);
      return undefined;
    },
    toggle(row, index) {
      if (!all.delete(row.id)) put(row, index, {});
      else changed();
    },
    change: (row, index, change) => put(row, index, { ...all.get(row.id), ...change }),
    clear() {
      all.clear();
      changed();
    },
    onChange: (listener) => listeners.push(listener),
  };
}

/** Only what the report holds in full can be sent again. */
export function canRepeat(row: PageRow): boolean {
  const inDoubt = row.error !== undefined && row.error.paid !== 'no';
  return row.cells !== undefined && !inDoubt;
}

export function resolutionOf(row: PageRow): string | undefined {
  const resolution = row.cells?.['resolution'];
  return typeof resolution === 'string' ? resolution : undefined;
}

export function priceOf(
  row: PageRow,
  resolution: string | undefined,
  prices: PageData['prices'],
): number | null {
  if (row.kind !== 'edit') return row.cost ?? null;
  return prices[resolution ?? resolutionOf(row) ?? '1k'] ?? null;
}

function purchaseOf(row: PageRow): string {
  return row.jobId ?? row.settledAt ?? '';
}

function readKept(key: string): [string, Mark][] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? (kept as [string, Mark][]) : [];
  } catch {
    return [];
  }
}

function keep(key: string, all: ReadonlyMap<string, Mark>): void {
  try {
    if (all.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify([...all]));
  } catch {
    // A browser may refuse to keep anything for a file: the marks then last as long as the page.
  }
}
