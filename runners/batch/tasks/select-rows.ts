/** The part of a manifest that `only` and `limit` leave to be done. One for each pass. */
export class SelectRows {
  private readonly wanted: ReadonlySet<string> | undefined;
  private readonly notSeen: Set<string>;
  private left: number;

  constructor({ limit, only }: { readonly limit: number; readonly only: ReadonlySet<string> | undefined }) {
    this.wanted = only;
    this.notSeen = new Set(only);
    this.left = limit;
  }

  /** Whether the row, which is to be done, is done by this start. */
  takes(id: string): boolean {
    if (this.left === 0 || this.wanted?.has(id) === false) return false;
    this.left--;
    return true;
  }

  /** Takes in every row, so that ids that no row has are known at the end. */
  see(id: string): void {
    this.notSeen.delete(id);
  }

  /** Nothing is left to be taken. */
  get isFull(): boolean {
    return this.left === 0;
  }

  /** Ids of `only` that no row has had. */
  missing(): string[] {
    return [...this.notSeen];
  }
}
