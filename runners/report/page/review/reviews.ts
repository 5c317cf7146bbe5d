import type { PageData, PageRow } from '../../page-data.js';
import { editLabel, editPrice } from '../../messages/edit-prices.js';
import { promptOf } from '../rows/row-store.js';
import type { Review, Verdict } from './redo-manifest.js';

/** `null` removes a value. A changed prompt or resolution also rejects the picture. */
export interface ReviewChange {
  readonly verdict?: Verdict | null;
  readonly stars?: number | null;
  readonly note?: string;
  readonly prompt?: string;
  readonly resolution?: string;
}

/** The reviews by row id; the browser stores them under the run's key, if it can. */
export interface Reviews {
  readonly all: ReadonlyMap<string, Review>;
  /** Whether the browser cannot store anything, so that reviews are lost with the page. */
  readonly isLost: boolean;
  /** The review of a row's current picture; a review of an earlier picture is dropped. */
  of(row: PageRow): Review | undefined;
  withVerdict(verdict: Verdict): Review[];
  /** One step for `undo`, however many rows it changes. Further typing in the same field belongs to the same step. */
  change(rows: readonly PageRow[], change: ReviewChange): void;
  clear(): void;
  /** Undoes the latest change; returns the number of its first row, or `undefined`. */
  undo(): number | undefined;
  onChange(listener: () => void): void;
}

type Step = { readonly name: string; readonly before: readonly (readonly [string, Review | undefined])[] };

const stepsKept = 500;

export function openReviews(data: PageData): Reviews {
  const kept = openKeeper(`millrace review ${data.run.key}`);
  const all = new Map<string, Review>(kept.read() ?? readRejections(`millrace ${data.run.key}`));
  const listeners: (() => void)[] = [];
  const steps: Step[] = [];
  const changed = (): void => {
    kept.write(all);
    for (const listener of listeners) listener();
  };
  const put = (id: string, review: Review | undefined): void => {
    if (review === undefined) all.delete(id);
    else all.set(id, review);
  };
  const step = (name: string, ids: readonly string[], act: () => void): void => {
    const isTyping = name.startsWith('text ') && steps.at(-1)?.name === name;
    if (!isTyping) steps.push({ name, before: ids.map((id) => [id, all.get(id)]) });
    if (steps.length > stepsKept) steps.shift();
    act();
    changed();
  };
  kept.onOther((entries) => {
    all.clear();
    for (const [id, review] of entries) all.set(id, review);
    for (const listener of listeners) listener();
  });
  return {
    all,
    get isLost() {
      return kept.isLost;
    },
    of(row) {
      const review = all.get(row.id);
      if (review === undefined || review.of === purchaseOf(row)) return review;
      all.delete(row.id);
      queueMicrotask(changed);
      return undefined;
    },
    withVerdict: (verdict) => [...all.values()].filter((review) => review.verdict === verdict),
    change(rows, change) {
      const [field = ''] = Object.keys(change);
      const name = /^(note|prompt)$/.test(field) ? `text ${field} ${rows[0]?.id ?? ''}` : 'change';
      step(
        name,
        rows.map(({ id }) => id),
        () => rows.forEach((row) => put(row.id, changedReview(row, all.get(row.id), change, data))),
      );
    },
    clear: () => step('clear', [...all.keys()], () => all.clear()),
    undo() {
      const last = steps.pop();
      if (last === undefined) return undefined;
      const row = last.before.flatMap(([id, before]) => before?.row ?? all.get(id)?.row ?? [])[0];
      for (const [id, before] of last.before) put(id, before);
      changed();
      return row;
    },
    onChange: (listener) => listeners.push(listener),
  };
}

/** `undefined` if the review is empty. */
function changedReview(
  row: PageRow,
  before: Review | undefined,
  change: ReviewChange,
  { prices }: PageData,
): Review | undefined {
  const asks = change.prompt !== undefined || change.resolution !== undefined;
  const verdict = asks ? 'rejected' : latest(change.verdict, before?.verdict);
  const stars = latest(change.stars, before?.stars);
  const note = change.note ?? before?.note ?? '';
  const prompt = verdict === 'rejected' ? (change.prompt ?? before?.prompt) : undefined;
  const resolution = verdict === 'rejected' ? (change.resolution ?? before?.resolution) : undefined;
  const isOther = { prompt: prompt !== promptOf(row), resolution: resolution !== resolutionOf(row) };
  if (verdict === undefined && stars === undefined && note === '') return undefined;
  return {
    row: row.row,
    of: purchaseOf(row),
    failed: row.status !== 'completed',
    ...(verdict !== undefined && { verdict }),
    ...(stars !== undefined && { stars }),
    ...(note !== '' && { note }),
    ...(prompt !== undefined && isOther.prompt && { prompt }),
    ...(resolution !== undefined && isOther.resolution && { resolution }),
    cost: canRepeat(row) ? priceOf(row, resolution, prices) : null,
  };
}

/** Whether a row can be redone: the report must contain all of it, and no charge for it may be in doubt. */
export function canRepeat(row: PageRow): boolean {
  return row.cells !== undefined && (row.error === undefined || row.error.paid === 'no');
}

export function canDecide(row: PageRow, verdict: Verdict): boolean {
  return row.status === 'completed' || (verdict === 'rejected' && canRepeat(row));
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
  const endpoint = row.cells?.['endpoint'];
  const label = editLabel(
    typeof endpoint === 'string' ? endpoint : '',
    resolution ?? resolutionOf(row) ?? '1k',
  );
  return editPrice(prices, label) ?? null;
}

function purchaseOf(row: PageRow): string {
  return row.jobId ?? row.settledAt ?? '';
}

/** `undefined` changes nothing, `null` removes. */
function latest<T>(change: T | null | undefined, before: T | undefined): T | undefined {
  return change === undefined ? before : (change ?? undefined);
}

type Entries = readonly (readonly [string, Review])[];

interface ReviewKeeper {
  readonly isLost: boolean;
  /** `undefined` when nothing is stored yet. */
  read(): Entries | undefined;
  /** Stores them a little later, because in a large run this takes longer than a key press may. */
  write(all: ReadonlyMap<string, Review>): void;
  /** Another tab with the same report has changed them. */
  onOther(take: (entries: Entries) => void): void;
}

const writeAfterMs = 300;

/** The browser's local storage, under the run's key. */
function openKeeper(key: string): ReviewKeeper {
  let isLost = false;
  let due: ReadonlyMap<string, Review> | undefined;
  const flush = (): void => {
    if (due === undefined) return;
    try {
      localStorage.setItem(key, JSON.stringify([...due]));
      isLost = false;
    } catch {
      // Storage is refused for a file, or full.
      isLost = true;
    }
    due = undefined;
  };
  window.addEventListener('pagehide', flush);
  document.addEventListener('visibilitychange', flush);
  return {
    get isLost() {
      return isLost;
    },
    read: () => readEntries(key),
    write(all) {
      if (due === undefined) setTimeout(flush, writeAfterMs);
      due = all;
    },
    onOther: (take) =>
      window.addEventListener('storage', (event) => {
        if (event.key === key) take(readEntries(key) ?? []);
      }),
  };
}

/** The rejections that 0.1.0 stored. */
function readRejections(key: string): Entries {
  return (readEntries(key) ?? []).map(([id, review]) => [id, { ...review, verdict: 'rejected' }]);
}

function readEntries(key: string): Entries | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return Array.isArray(kept) ? kept.filter(isEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** Checks a stored value, because another page of the browser may have written it. */
function isEntry(entry: unknown): entry is [string, Review] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
  const { row, of, cost, verdict, stars, note, prompt, resolution } = (entry[1] ?? {}) as Record<
    keyof Review,
    unknown
  >;
  return (
    typeof row === 'number' &&
    typeof of === 'string' &&
    (cost === null || typeof cost === 'number') &&
    [note, prompt, resolution].every((text) => text === undefined || typeof text === 'string') &&
    [undefined, 1, 2, 3, 4, 5].includes(stars as undefined) &&
    [undefined, 'kept', 'rejected'].includes(verdict as undefined)
  );
}
