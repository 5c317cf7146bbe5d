/** How far back the pace looks. */
const windowMs = 120_000;
/** At most one sample in this time is kept, so that the window stays small at any speed. */
const sampleEveryMs = 1_000;
/** Less than this says nothing about the pace. */
const enoughMs = 3_000;

/** Rows a minute over the last two minutes, from counts at moments in ms. */
export interface Pace {
  note(done: number, at: number): void;
  /** `undefined` until there is enough to tell. */
  rowsPerMinute(done: number, at: number): number | undefined;
}

/** A pace that begins at `startedAt` with nothing done. */
export function measurePace(startedAt: number): Pace {
  const samples = [{ at: startedAt, done: 0 }];
  const oldest = () => samples[0] ?? { at: startedAt, done: 0 };
  return {
    note(done, at) {
      if (at - (samples.at(-1)?.at ?? startedAt) < sampleEveryMs) return;
      samples.push({ at, done });
      while (samples.length > 2 && (samples[1]?.at ?? at) <= at - windowMs) samples.shift();
    },
    rowsPerMinute(done, at) {
      const elapsedMs = at - oldest().at;
      const rows = done - oldest().done;
      if (rows <= 0 || elapsedMs < enoughMs) return undefined;
      return (rows * 60_000) / elapsedMs;
    },
  };
}
