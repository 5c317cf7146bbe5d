/** The gate of a run. Times in ms since the epoch, by the database's clock. */
export interface GateRecord {
  readonly now: number;
  /** Requests a second; `null`: no limit. */
  readonly rate: number | null;
  /** When the next request may leave. */
  readonly nextAt: number;
  readonly pausedUntil: number;
  /** After a pause one probe at a time goes out until an answer is good. */
  readonly recovering: boolean;
  readonly probeUntil: number;
}

/** Requests that may leave, evenly spaced. */
export interface Turns {
  readonly count: number;
  /** Ms from now; 0 for at once. */
  readonly firstInMs: number;
  readonly everyMs: number;
}

/** A probe that was not refused for so long in ms was taken. */
const probeMs = 2_000;
/** Lateness up to so many ms is made up for, as a busy machine needs it. */
const latenessMs = 200;

/** How many of the wanted requests may leave within `horizonMs`. */
export function turnsAt(gate: GateRecord, wanted: number, horizonMs: number): Turns {
  const { now, rate, pausedUntil, recovering, probeUntil } = gate;
  if (pausedUntil > now || (recovering && probeUntil > now)) return { count: 0, firstInMs: 0, everyMs: 0 };
  const most = recovering ? Math.min(wanted, 1) : wanted;
  if (rate === null) return { count: most, firstInMs: 0, everyMs: 0 };
  const everyMs = 1_000 / rate;
  const start = startOf(gate, everyMs);
  const fitting = Math.floor((now + horizonMs - start) / everyMs) + 1;
  return { count: Math.max(Math.min(most, fitting), 0), firstInMs: Math.max(start - now, 0), everyMs };
}

/** The gate once so many turns have been taken. */
export function afterTurns(gate: GateRecord, { count, everyMs }: Turns): GateRecord {
  if (count === 0) return gate;
  const nextAt = gate.rate === null ? gate.nextAt : startOf(gate, everyMs) + count * everyMs;
  return { ...gate, nextAt, probeUntil: gate.recovering ? gate.now + probeMs : gate.probeUntil };
}

function startOf({ now, nextAt }: GateRecord, everyMs: number): number {
  return Math.max(nextAt, now - Math.max(latenessMs - everyMs, 0));
}
