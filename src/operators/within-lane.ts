import { asapScheduler, Observable, tap } from 'rxjs';
import { checkMembers, checkNames, checkNumber, checkText } from '../contract/check-option.js';
import type { JobEvent } from '../contract/outcome.js';
import { callHook } from '../policy/guard-hooks.js';
import { asJob, factsBehind, factsOf, type Job, type JobFacts, type JobOperator } from './job.js';

/**
 * Subscribes to the job when its lane has a slot; nothing is sent before. The slot is free again when the job completes, and
 * soon after it errors or is unsubscribed. A job stays a job. Several fan-outs with the same `Lanes` share its slots fairly. Use it
 * once on the way of a job: one that holds a slot and waits for another of the same `Lanes`, as the second job of a chain that is
 * in a lane as a whole, may wait for ever.
 *
 * @param lane the name of the lane: an endpoint, a customer
 *
 * @example
 * ```ts
 * const lanes = createLanes({ slots: 8, weights: { edit: 3, upscale: 1 } });
 * merge(
 *   pullJobs(edits, (row) => edit.run(row).pipe(withinLane(lanes, 'edit')), { concurrency: 8 }),
 *   pullJobs(photos, (row) => upscale.run(row).pipe(withinLane(lanes, 'upscale')), { concurrency: 8 }),
 * );
 * ```
 */
export function withinLane<O>(lanes: Lanes, lane: string): JobOperator<O, O> {
  checkMembers('lanes', lanes, 'result of createLanes', ['take']);
  checkText('lane', lane);
  const operator = <P>(events: Observable<JobEvent<P>>): Observable<JobEvent<P>> => {
    const waiting = new Set<() => void>();
    const inLane = new Observable<JobEvent<P>>((subscriber) => {
      let isUnderWay = false;
      const begin = () => {
        if (!waiting.delete(begin) || subscriber.closed) return;
        isUnderWay = true;
        events.pipe(tap({ complete: () => (isUnderWay = false) })).subscribe(subscriber);
      };
      waiting.add(begin);
      subscriber.add(() => waiting.delete(begin));
      const giveBack = lanes.take(lane, begin);
      subscriber.add(() => (isUnderWay ? onceAllHaveLeft(giveBack) : giveBack()));
    });
    const facts = factsOf(events);
    return facts === undefined ? inLane : asJob(inLane, laneFacts(facts, waiting, operator));
  };
  return operator as JobOperator<O, O>;
}

/**
 * Calls a function that gives a slot back, after everything that is left at the same moment has been left. If the slot were given
 * back at once, the next row of a fan-out that is being left, or that an error ends, would begin, and its POST would be sent.
 */
export function onceAllHaveLeft(giveBack: () => void): void {
  asapScheduler.schedule(giveBack);
}

/** A job that is cancelled while it waits ends at once, because it needs no slot. */
function laneFacts<P>(
  facts: JobFacts<P>,
  waiting: ReadonlySet<() => void>,
  operator: (events: Observable<JobEvent<P>>) => Observable<JobEvent<P>>,
): JobFacts<P> {
  const { eachPurchase } = facts;
  return factsBehind(facts, {
    ...(eachPurchase && { eachPurchase: (replace) => operator(eachPurchase(replace)) as Job<P> }),
    cancel() {
      const reply = facts.cancel();
      for (const begin of [...waiting]) begin();
      return reply;
    },
  });
}

/** Slots that several lanes share. Slots that one lane does not use go to the others. */
export interface Lanes {
  /**
   * Calls `go` once the lane has a slot for it, synchronously if one is free. If `go` throws, the error is reported, and the slot
   * is held until it is given back.
   *
   * @returns a function that gives back the slot, or leaves the queue if `go` has not been called yet; a second call does
   *   nothing
   */
  take(lane: string, go: () => void): () => void;
  /** The slots that each lane holds now, and how many callers of `take` wait for one. A lane without either is forgotten. */
  state(): Record<string, { held: number; waiting: number }>;
}

/** Options of `createLanes`. */
export interface LaneOptions {
  /** Number of slots of all lanes together, from 1. */
  slots: number;
  /** Weight of a lane relative to the others, above 0. @defaultValue 1 for each lane */
  weights?: Readonly<Record<string, number>> | undefined;
}

interface Lane {
  readonly weight: number;
  readonly waiting: Set<() => void>;
  held: number;
  /** All slots that it ever had, divided by its weight. Decides between lanes that have the same number. */
  turns: number;
}

/**
 * Creates slots that lanes share fairly: a free slot goes to the waiting lane that has the fewest for its weight, and in a lane
 * to the caller that has waited longest.
 * @throws InvalidOptionError
 */
export function createLanes(options: LaneOptions): Lanes {
  checkNames(options, 'createLanes', ['slots', 'weights']);
  const { slots, weights = {} } = options;
  checkNumber('slots', slots, 'whole number from 1');
  for (const [lane, weight] of Object.entries(weights))
    checkNumber(`weights.${lane}`, weight, 'finite number above 0');
  const lanes = new Map<string, Lane>();
  let free = slots;
  let handingOut = false;

  const entryOf = (name: string): Lane => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const weight = Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1;
    // A lane that is new or returns must not have saved up turns meanwhile.
    const lane = { weight, waiting: new Set<() => void>(), held: 0, turns: fewestTurns(lanes) };
    lanes.set(name, lane);
    return lane;
  };
  /** A trampoline, so that jobs that end synchronously do not nest. */
  const handOut = () => {
    if (handingOut) return;
    handingOut = true;
    for (let lane = next(lanes); free > 0 && lane !== undefined; lane = next(lanes)) {
      const [go] = lane.waiting;
      if (go === undefined) break;
      lane.waiting.delete(go);
      free -= 1;
      lane.held += 1;
      lane.turns += 1 / lane.weight;
      callHook(go);
    }
    handingOut = false;
  };
  return {
    take(name, go) {
      const lane = entryOf(name);
      let has: 'place' | 'slot' | 'nothing' = 'place';
      const turn = () => {
        has = 'slot';
        go();
      };
      lane.waiting.add(turn);
      handOut();
      return () => {
        lane.waiting.delete(turn);
        if (has === 'slot') {
          lane.held -= 1;
          free += 1;
        }
        has = 'nothing';
        if (lane.held === 0 && lane.waiting.size === 0 && lanes.get(name) === lane) lanes.delete(name);
        handOut();
      };
    },
    state: () =>
      Object.fromEntries(
        [...lanes].map(([name, { held, waiting }]) => [name, { held, waiting: waiting.size }] as const),
      ),
  };
}

/** The waiting lane that holds the fewest slots for its weight, then the one with the fewest turns. */
function next(lanes: ReadonlyMap<string, Lane>): Lane | undefined {
  let best: Lane | undefined;
  for (const lane of lanes.values()) {
    if (lane.waiting.size === 0) continue;
    if (best === undefined || isBefore(lane, best)) best = lane;
  }
  return best;
}

function isBefore(one: Lane, other: Lane): boolean {
  const [mine, theirs] = [one.held / one.weight, other.held / other.weight];
  return mine === theirs ? one.turns < other.turns : mine < theirs;
}

/** The fewest turns among the lanes that hold slots or wait for them. */
function fewestTurns(lanes: ReadonlyMap<string, Lane>): number {
  const busy = [...lanes.values()].filter(({ held, waiting }) => held > 0 || waiting.size > 0);
  return busy.length === 0 ? 0 : Math.min(...busy.map(({ turns }) => turns));
}
