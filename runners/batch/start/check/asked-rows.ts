import { Column } from '../../journal/rows/column.js';
import type { RowStates } from '../../journal/rows/row-states.js';

/**
 * Rows of the journal that the manifest still asks for: it has their ids, and with the content that was sent. What the
 * others have bought may be asked for again under another id, as after rows were renamed or numbered anew.
 */
export class AskedRows {
  /** One bit for each row of the journal, by its index. */
  readonly #asked = new Column(Uint8Array);
  #count = 0;

  constructor(private readonly rows: Pick<RowStates, 'indexOf' | 'size'> | undefined) {}

  add(id: string): void {
    const index = this.rows?.indexOf(id) ?? -1;
    if (index < 0 || this.has(index)) return;
    this.#asked.set(index >>> 3, this.#asked.get(index >>> 3) | (1 << (index & 7)));
    this.#count++;
  }

  /** Counts rows that are not read, because they have ended with the content that the manifest has. */
  leaveOut(rows: number): void {
    this.#count += rows;
  }

  /** Only after all rows were read. */
  has(index: number): boolean {
    return (this.#asked.get(index >>> 3) & (1 << (index & 7))) !== 0;
  }

  get areAll(): boolean {
    return this.#count >= (this.rows?.size ?? 0);
  }
}
