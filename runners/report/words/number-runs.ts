/** Row numbers in order, as runs of consecutive ones: first number, how many. A number that comes twice begins a run. */
export function numberRuns(numbers: Iterable<number>): [number, number][] {
  const runs: [number, number][] = [];
  let last: [number, number] | undefined;
  for (const number of numbers) {
    if (last !== undefined && number === last[0] + last[1]) last[1]++;
    else runs.push((last = [number, 1]));
  }
  return runs;
}

/** The place of a number among the runs; `undefined` when it is in none. */
export function placeInRuns(
  runs: readonly (readonly [number, number])[],
  number: number,
): number | undefined {
  let before = 0;
  for (const [first, count] of runs) {
    if (number >= first && number < first + count) return before + number - first;
    before += count;
  }
  return undefined;
}
