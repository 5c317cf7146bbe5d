/** A row that a person has rejected, with what is to be different next time. */
export interface Mark {
  /** Its number in the manifest: its place in the gallery changes as other rows end. */
  readonly row: number;
  /** The purchase that was rejected: once it has been replaced, the mark is of the past. */
  readonly of: string;
  readonly failed: boolean;
  readonly prompt?: string;
  readonly resolution?: string;
  /** What the repeat would cost in micro-dollars; `null`: not known. */
  readonly cost: number | null;
}
