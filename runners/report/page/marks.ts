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
  toggle(row: PageRow): void;
  change(row: PageRow, change: Change): void;
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
  const put = (row: PageRow, change: Change): void => {
    const prompt = change.prompt === promptOf(row) ? undefined : change.prompt;
    const resolution = change.resolution === resolutionOf(row) ? undefined : change.resolution;
    all.set(row.id, {
      row: row.row,
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
    toggle(row) {
      if (!all.delete(row.id)) put(row, {});
      else changed();
    },
    change: (row, change) => put(row, { ...all.get(row.id), ...change }),
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
    return Array.isArray(kept) ? kept.filter(isKeptMark) : [];
  } catch {
    return [];
  }
}

/** Another page of the same browser could have written there. */
function isKeptMark(entry: unknown): entry is [string, Mark] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
  const mark = entry[1] as Partial<Mark> | null;
  const texts = [mark?.prompt, mark?.resolution].every(
    (text) => text === undefined || typeof text === 'string',
  );
  return (
    typeof mark?.row === 'number' &&
    typeof mark.of === 'string' &&
    texts &&
    (mark.cost === null || typeof mark.cost === 'number')
  );
}

function keep(key: string, all: ReadonlyMap<string, Mark>): void {
  try {
    if (all.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify([...all]));
  } catch {
    // A browser may refuse to keep anything for a file: the marks then last as long as the page.
  }
}
