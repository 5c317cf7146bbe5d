import type { ReachedCap } from '../ledger/value-caps.js';

export interface RunEnd {
  readonly exitCode: number;
  /** One sentence on what happened and how to continue. */
  readonly reason: string;
  /** The caps that left no room for a row, if the run ended for that reason. */
  readonly caps?: readonly ReachedCap[];
}

/** Exit codes of errors by their code. A code that is not listed is a fault of millrace itself. */
export const exitCodes: Readonly<Record<string, number>> = {
  usage: 2,
  manifest: 2,
  'invalid-option': 2,
  'emulator-option': 2,
  'price-file': 2,
  database: 2,
  'database-away': 69,
  held: 75,
  'lock-unavailable': 74,
  'lock-io': 74,
  moved: 74,
  copied: 74,
  'day-ledger': 74,
  'journal-broken': 74,
  'journal-newer': 74,
  'journal-io': 74,
  'run-gone': 74,
  disk: 74,
  'not-a-file': 74,
};

/** Exit codes from the most to the least important. Interruptions come before all of them. */
const order = [70, 74, 4, 2, 3, 5, 69, 75, 6, 1];

/**
 * The end of a run that has several reasons: the most important exit code, with its sentence. After an interruption the
 * sentence also names the next problem, because whoever interrupted the run knows about that.
 */
export function worstEnd(ends: readonly RunEnd[]): RunEnd | undefined {
  const [worst, ...others] = ends.toSorted((one, other) => rank(one.exitCode) - rank(other.exitCode));
  const next = others.find(({ exitCode }) => exitCode !== 0 && exitCode < 128);
  const isKnown = next === undefined || (worst !== undefined && worst.reason.includes(next.reason));
  if (worst === undefined) return undefined;
  const { exitCode, reason, caps } = worst;
  if (exitCode >= 128 && !isKnown) return { exitCode, reason: `${reason} ${next.reason}` };
  return { exitCode, reason, ...(caps && { caps }) };
}

function rank(exitCode: number): number {
  if (exitCode >= 128) return -1;
  if (exitCode === 0) return Infinity;
  const place = order.indexOf(exitCode);
  return place < 0 ? order.length : place;
}
