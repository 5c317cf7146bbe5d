import type { Review } from './redo-manifest.js';

type Entries = readonly (readonly [string, Review])[];

/** The storage of reviews. */
export interface ReviewKeeper {
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
export function openKeeper(key: string): ReviewKeeper {
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
export function readRejections(key: string): Entries {
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
