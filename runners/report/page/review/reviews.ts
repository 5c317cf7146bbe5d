import type { PageData, PageRow } from '../../page-data.js';
import { editLabel, editPrice } from '../../messages/edit-prices.js';
import { promptOf } from '../rows/row-store.js';
import { openKeeper, readRejections } from './keep-reviews.js';
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
