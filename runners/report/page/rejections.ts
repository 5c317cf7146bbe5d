import type { Rejection } from './redo-manifest.js';
import type { PageData, PageRow } from '../page-data.js';
import { promptOf } from './row-store.js';

interface Change {
  readonly prompt?: string | undefined;
  readonly resolution?: string | undefined;
}

const historyKept = 200;

/** The rejected rows by id; kept by the browser under the run's key where it lets us. */
export interface Rejections {
  readonly all: ReadonlyMap<string, Rejection>;
  /** The rejection of a row as it is now: one of an earlier picture is dropped. */
  of(row: PageRow): Rejection | undefined;
  toggle(row: PageRow): void;
  change(row: PageRow, change: Change): void;
  clear(): void;
  /** Takes the latest change back; `false` where there is none. */
  undo(): boolean;
  onChange(listener: () => void): void;
}

export function openRejections(data: PageData): Rejections {
  const key = `millrace ${data.run.key}`;
  const all = new Map<string, Rejection>(readKept(key));
  const listeners: (() => void)[] = [];
  const history: [string, Rejection][][] = [];
  const remember = (): void => {
    history.push([...all]);
    if (history.length > historyKept) history.shift();
  };
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
      const rejection = all.get(row.id);
      if (rejection === undefined || rejection.of === purchaseOf(row)) return rejection;
      all.delete(row.id);
      queueMicrotask(changed);
      return undefined;
    },
    toggle(row) {
      remember();
      if (!all.delete(row.id)) put(row, {});
      else changed();
    },
    change(row, change) {
      remember();
      put(row, { ...all.get(row.id), ...change });
    },
    undo() {
      const before = history.pop();
      if (before === undefined) return false;
      all.clear();
      for (const [id, rejection] of before) all.set(id, rejection);
      changed();
      return true;
    },
    clear() {
      remember();
      all.clear();
      changed();
    },
    onChange: (listener) => listeners.push(listener),
  };
}

/** Only what the report holds in full can be sent again. */
export function canRepeat(row: PageRow): boolean {
  const mayBePaid = row.error !== undefined && row.error.paid !== 'no';
  return row.cells !== undefined && !mayBePaid;
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

function readKept(key: string): [string, Rejection][] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKeptRejection) : [];
  } catch {
    return [];
  }
}

/** Another page of the same browser could have written there. */
function isKeptRejection(entry: unknown): entry is [string, Rejection] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
  const rejection = entry[1] as Partial<Rejection> | null;
  const texts = [rejection?.prompt, rejection?.resolution].every(
    (text) => text === undefined || typeof text === 'string',
  );
  return (
    typeof rejection?.row === 'number' &&
    typeof rejection.of === 'string' &&
    texts &&
    (rejection.cost === null || typeof rejection.cost === 'number')
  );
}

function keep(key: string, all: ReadonlyMap<string, Rejection>): void {
  try {
    if (all.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify([...all]));
  } catch {
    // A browser may refuse to keep anything for a file: the rejections then last as long as the page.
  }
}
