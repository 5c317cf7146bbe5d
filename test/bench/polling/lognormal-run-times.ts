/** Seeded chance: the same seed gives the same numbers everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Run times in ms by number of the job, the same at every call. */
export function lognormalRunTimes(medianMs: number, sigma: number, seed: number): (n: number) => number {
  const random = createRandom(seed);
  const drawn = new Map<number, number>();
  return (n) => {
    const known = drawn.get(n);
    if (known !== undefined) return known;
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const runTime = medianMs * Math.exp(sigma * normal);
    drawn.set(n, runTime);
    return runTime;
  };
}
