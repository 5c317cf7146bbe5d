import { foldCase } from '../artifacts/artifact-name.js';
import { RowStates } from '../journal/rows/row-states.js';

/**
 * Finds ids that differ only in case: some file systems would treat the names of their pictures as the same. Keeps no ids, and
 * nothing at all for ids without capitals.
 */
export class PictureNames {
  /** By the id in lower case: the first id of a manifest that has capitals. */
  private readonly owners = new RowStates();
  /** Whether some ids have capitals. */
  hasCapitals = false;

  /** Call this with every id of the manifest, in order. */
  see(id: string): void {
    const folded = foldCase(id);
    if (folded === id) return;
    this.hasCapitals = true;
    if (this.owners.get(folded) === undefined)
      this.owners.set(folded, { status: 'open', hash: capitalsOf(id) });
  }

  /** Whether the id that was seen last differs only in case from an earlier one. `ids`: all that were seen so far. */
  isAlike(id: string, ids: { has(id: string): boolean }): boolean {
    const folded = foldCase(id);
    if (folded === id) return this.hasCapitals && this.owners.get(id) !== undefined;
    return this.collides(id) || ids.has(folded);
  }

  /** Whether the picture's name needs a hash. The first id with capitals needs none, because the later ones get one. */
  collides(id: string): boolean {
    const owner = this.owners.get(foldCase(id));
    return owner !== undefined && !owner.sameContent(capitalsOf(id));
  }
}

/** A hash of the id, with its capitals, as hex digits. It is never 0, because 0 stands for no hash. */
function capitalsOf(id: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return ((hash | 1) >>> 0).toString(16).padStart(8, '0');
}
