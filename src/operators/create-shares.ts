import { InvalidOptionError } from '../contract/millrace-error.js';

/** Slots that several lanes share. What one lane does not use goes to the others. */
export interface Shares {
  /**
   * Takes a slot and calls `go` with it, at once or when it is this lane's turn.
   * @returns gives the slot back, or the place in the line when the turn has not come; more than once is once
   */
  take(lane: string, go: () => void): () => void;
  /** How many slots each lane holds and how many of it wait, as it stands now. */
  state(): Record<string, { held: number; waiting: number }>;
}

/** Options of `createShares`. */
export interface ShareOptions {
  /** Slots of all lanes together, a whole number from 1. */
  slots: number;
  /** What a lane is worth beside the others, above 0. @defaultValue 1 for each lane */
  weights?: Readonly<Record<string, number>>;
}

interface Lane {
  readonly weight: number;
  readonly line: Set<() => void>;
  held: number;
  /** Turns taken, by weight: who has had fewer goes first among equals. */
  turns: number;
}

/**
 * Fair shares of a number of slots: a free one goes to the waiting lane that holds the least for its weight, first come
 * first served within a lane.
 * @throws InvalidOptionError
 */
export function createShares({ slots, weights = {} }: ShareOptions): Shares {
  check('slots', Number.isInteger(slots) && slots >= 1, slots);
  for (const [lane, weight] of Object.entries(weights))
    check(`weights.${lane}`, weight > 0 && weight < Infinity, weight);
  const lanes = new Map<string, Lane>();
  let free = slots;
  let handingOut = false;

  const laneOf = (name: string): Lane => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const weight = Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1;
    // A lane that is new, or comes back, has not saved up turns meanwhile.
    const lane = { weight, line: new Set<() => void>(), held: 0, turns: fewestTurns(lanes) };
    lanes.set(name, lane);
    return lane;
  };
  /** A trampoline: jobs that end at once do not nest. */
  const handOut = () => {
    if (handingOut) return;
    handingOut = true;
    for (let lane = next(lanes); free > 0 && lane !== undefined; lane = next(lanes)) {
      const [go] = lane.line;
      if (go === undefined) break;
      lane.line.delete(go);
      free -= 1;
      lane.held += 1;
      lane.turns += 1 / lane.weight;
      go();
    }
    handingOut = false;
  };
  return {
    take(name, go) {
      const lane = laneOf(name);
      let has: 'place' | 'slot' | 'nothing' = 'place';
      const turn = () => {
        has = 'slot';
        go();
      };
      if (lane.line.size === 0 && lane.held === 0) lane.turns = Math.max(lane.turns, fewestTurns(lanes));
      lane.line.add(turn);
      handOut();
      return () => {
        lane.line.delete(turn);
        if (has === 'slot') {
          lane.held -= 1;
          free += 1;
        }
        has = 'nothing';
        handOut();
      };
    },
    state: () =>
      Object.fromEntries(
        [...lanes].map(([name, { held, line }]) => [name, { held, waiting: line.size }] as const),
      ),
  };
}

/** Of the lanes that wait: who holds the least for its weight, then who has had the fewest turns. */
function next(lanes: ReadonlyMap<string, Lane>): Lane | undefined {
  let best: Lane | undefined;
  for (const lane of lanes.values()) {
    if (lane.line.size === 0) continue;
    if (best === undefined || isBefore(lane, best)) best = lane;
  }
  return best;
}

function isBefore(one: Lane, other: Lane): boolean {
  const [mine, theirs] = [one.held / one.weight, other.held / other.weight];
  return mine === theirs ? one.turns < other.turns : mine < theirs;
}

/** Of the lanes that hold or want something. */
function fewestTurns(lanes: ReadonlyMap<string, Lane>): number {
  const busy = [...lanes.values()].filter(({ held, line }) => held > 0 || line.size > 0);
  return busy.length === 0 ? 0 : Math.min(...busy.map(({ turns }) => turns));
}

function check(option: string, isGood: boolean, value: number): void {
  if (isGood) return;
  const range = option === 'slots' ? 'no whole number from 1' : 'no number above 0';
  throw new InvalidOptionError(option, `is ${range} (got ${value})`);
}
