/** The rows that are shown, and those that would be now. Places in the manifest's order, as it is now. */
export interface NewRows {
  /** Those that were found, where they stand now. */
  readonly standing: readonly number[];
  /** How many of them end before the end of the page that is drawn. */
  readonly drawn: number;
  /** What the filter finds now, in its order. */
  readonly fresh: readonly number[];
  /** The newest come first: those that have come meanwhile may stand behind the others, as long as there is room. */
  readonly isLatest: boolean;
  /** Frames of a page. */
  readonly room: number;
}

/**
 * Rows have ended while somebody looks: what stands stays where it is. `undefined` where the new rows move nothing that is
 * drawn, or rows are gone: then the page is drawn by what was found.
 */
export function holdRows(rows: NewRows): { found: number[]; waiting: number } | undefined {
  const { standing, drawn, fresh, isLatest, room } = rows;
  const others = new Set(fresh);
  const isGone = standing.some((place) => !others.delete(place));
  if (isGone || standing.slice(0, drawn).every((place, at) => fresh[at] === place)) return undefined;
  const waiting = isLatest ? [...others].reverse() : [...others];
  const added = isLatest ? waiting.slice(0, Math.max(0, room - standing.length)) : [];
  return { found: [...standing, ...added], waiting: waiting.length - added.length };
}
