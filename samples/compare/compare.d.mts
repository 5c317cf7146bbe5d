/** What became of one contender. Money in USD. */
export interface Verdict {
  name: string;
  exitCode: number;
  rows: number;
  /** Executions on the service's bill. */
  bought: number;
  billUsd: number;
  /** Rows with a whole picture. */
  pictures: number;
  paidTwice: number;
  paidTwiceUsd: number;
  /** Rows held as `unknown`. */
  named: number;
  lost: number;
  withoutOutcome: number;
  knownUsd: number;
  heldUsd: number;
}

export function compare(options?: {
  edits?: number;
  seed?: number;
  /** Share of replies. */
  lost?: number;
  say?: (line: string) => void;
}): Promise<Verdict[]>;
