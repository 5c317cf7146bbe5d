/** The end of a run, where it has come to it. */
export interface RunEnd {
  readonly exitCode: number;
  readonly reason: string;
}

/** From what matters most to what matters least. Interruptions stand above all. */
const order = [70, 74, 4, 2, 3, 5, 69, 6, 1];

/**
 * What a run says that ended in several ways at once: the exit code that matters most, with its sentence. Who interrupts a
 * run knows that much: the sentence then also names what else went wrong.
 */
export function worstEnd(ends: readonly RunEnd[]): RunEnd | undefined {
  const [worst, ...others] = ends.toSorted((one, other) => rank(one.exitCode) - rank(other.exitCode));
  const next = others.find(({ exitCode }) => exitCode !== 0 && exitCode < 128);
  const isKnown = next === undefined || (worst !== undefined && worst.reason.includes(next.reason));
  if (worst === undefined || worst.exitCode < 128 || isKnown) return worst;
  return { exitCode: worst.exitCode, reason: `${worst.reason} ${next.reason}` };
}

function rank(exitCode: number): number {
  if (exitCode >= 128) return -1;
  if (exitCode === 0) return Infinity;
  const place = order.indexOf(exitCode);
  return place < 0 ? order.length : place;
}
