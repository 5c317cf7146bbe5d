import { foldCase } from '../artifacts/artifact-name.js';
import { RowStates } from '../journal/rows/row-states.js';

/**
 * Which ids differ in case alone: their pictures must not have names that some file system takes for one. Keeps no ids,
 * and nothing at all of ids without a capital.
 */
export class PictureNames {
  /** By the id in small letters: the first id of a manifest that has capitals. */
  private readonly owners = new RowStates();
  /** Some ids that were seen have capitals. */
  hasCapitals = false;

  /** Takes in every id of the manifest, in order. */
  see(id: string): void {
    const folded = foldCase(id);
    if (folded === id) return;
    this.hasCapitals = true;
    if (this.owners.get(folded) === undefined)
      this.owners.set(folded, { status: 'open', hash: capitalsOf(id) });
  }

  /** Whether an id that was seen last differs in case alone from one before it. `ids`: all that were seen so far. */
  isAlike(id: string, ids: { has(id: string): boolean }): boolean {
    const folded = foldCase(id);
    if (folded === id) return this.hasCapitals && this.owners.get(id) !== undefined;
    return this.collides(id) || ids.has(folded);
  }

  /** The first id with capitals keeps its name as long as it is the only one of its kind or those after it make way. */
  collides(id: string): boolean {
    const owner = this.owners.get(foldCase(id));
    return owner !== undefined && !owner.sameContent(capitalsOf(id));
  }
}

/** Which letters are capitals, as hex digits; never 0, which means that nothing is known. */
function capitalsOf(id: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return ((hash | 1) >>> 0).toString(16).padStart(8, '0');
}
