/** Rows that the next verdict is for, by their places; empty: the current row alone. */
export class Selection {
  readonly #places = new Set<number>();
  readonly #onChange: () => void;
  #anchor: number | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get places(): ReadonlySet<number> {
    return this.#places;
  }

  toggle(place: number): void {
    if (!this.#places.delete(place)) this.#places.add(place);
    this.#anchor = place;
    this.#onChange();
  }

  /** From the last one that was selected, or from `start`, to this one, in the order of `found`. */
  extend(found: readonly number[], start: number, to: number): void {
    this.#anchor ??= start;
    const [one, other] = [found.indexOf(this.#anchor), found.indexOf(to)];
    this.#places.clear();
    for (const place of found.slice(Math.min(one, other), Math.max(one, other) + 1)) this.#places.add(place);
    this.#onChange();
  }

  all(found: readonly number[]): void {
    for (const place of found) this.#places.add(place);
    this.#onChange();
  }

  /** The same rows stand at other places now; `undefined`: a row is gone. */
  move(placeNow: (place: number) => number | undefined): void {
    const places = [...this.#places].flatMap((place) => placeNow(place) ?? []);
    this.#anchor = this.#anchor === undefined ? undefined : placeNow(this.#anchor);
    this.#places.clear();
    for (const place of places) this.#places.add(place);
  }

  /** `false` where nothing was selected. */
  clear(): boolean {
    this.#anchor = undefined;
    if (this.#places.size === 0) return false;
    this.#places.clear();
    this.#onChange();
    return true;
  }
}
