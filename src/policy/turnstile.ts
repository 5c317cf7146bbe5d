import { asyncScheduler, Observable } from 'rxjs';
import type { SchedulerLike, Subscriber, Subscription } from 'rxjs';
import type { AdaptivePace } from './adaptive-pace.js';
import { clampTimer } from './clamp-timer.js';
import { EndpointMap } from './endpoint-map.js';
import { createEndpointPause, type Block, type EndpointPause } from './endpoint-pause.js';
import { isRefusal, type Gate, type GateAnswer, type GateRequest, type RequestKind } from './gate.js';
import type { Pace } from './pace.js';
import { createWaitingLine, type WaitingLine } from './waiting-line.js';

/** The clock and the chance of a gate. */
export interface GateOptions {
  /** @defaultValue asyncScheduler */
  scheduler?: SchedulerLike;
  /** From 0 to 1. @defaultValue Math.random */
  random?: () => number;
}

/** The rates of a gate; without any only pauses hold requests back. */
export interface GatePaces {
  /** For all endpoints together. */
  readonly shared?: Pace;
  /** Makes the rate of one endpoint. */
  readonly own?: () => Pace | AdaptivePace;
}

/** A wait for the rate or for a probe is reported from this many ms on: a person does not want to know of shorter ones. */
const reportFromMs = 1_000;

/** An endpoint that has had no request for so many ms is forgotten when room is needed, and its found rate with it. */
const forgetAfterMs = 60_000;

/** A gate that says how long its endpoints pause. */
export interface EndpointGate extends Gate {
  /** Ms until one of the endpoints that were asked within the last minute pauses no more; 0 where one does not. */
  pausedMs(): number;
}

type Waiter = Subscriber<Block>;

/**
 * The built-in gates: a pause and maybe a rate for each endpoint, a rate for all; polls and cancels before new submissions.
 * Its methods need no `this`: a gate is often made of parts of another one.
 */
export function createTurnstile(options: GateOptions, paces: GatePaces = {}): EndpointGate {
  const gate = new Turnstile(options, paces);
  return {
    get ratePerSecond() {
      return gate.ratePerSecond;
    },
    admit: (request) => gate.admit(request),
    tryPass: (request) => gate.tryPass(request),
    observe: (answer) => gate.observe(answer),
    pausedMs: () => gate.pausedMs(),
  };
}

class Turnstile implements EndpointGate {
  private readonly scheduler: SchedulerLike;
  private readonly lanes: EndpointMap<Lane>;
  /** Lanes in which requests wait. */
  private readonly crowded = new Set<Lane>();
  private readonly shared: Pace | undefined;
  private arrivals = 0;
  private alarm: Subscription | undefined;
  private isReleasing = false;
  /** The alarm was set for a rate and no pause: what a late timer costs is made up for. */
  private isPaced = false;

  constructor({ scheduler = asyncScheduler, random = Math.random }: GateOptions, { shared, own }: GatePaces) {
    this.scheduler = scheduler;
    this.shared = shared;
    this.lanes = new EndpointMap(
      () => new Lane(createEndpointPause(scheduler, random), own?.()),
      (lane) => lane.isIdle(scheduler.now()),
    );
  }

  get ratePerSecond(): number | undefined {
    if (this.shared !== undefined) return this.shared.ratePerSecond;
    let sum: number | undefined;
    for (const { ratePerSecond } of this.lanes.values())
      if (ratePerSecond !== undefined) sum = (sum ?? 0) + ratePerSecond;
    return sum;
  }

  admit(request: GateRequest): Observable<Block> {
    return new Observable((waiter) => this.enter(waiter, request));
  }

  tryPass(request: GateRequest): boolean {
    const lane = this.lanes.of(request);
    const isUrgent = urgent(request.kind);
    if (this.isReleasing || lane.line.ahead(isUrgent) > 0) return false;
    if (this.shared !== undefined && this.crowdAhead(isUrgent) > 0) return false;
    if (lane.blocked() !== undefined || waitOf(this.shared) !== undefined) return false;
    this.pass(lane, false);
    return true;
  }

  observe(answer: GateAnswer): void {
    const lane = this.lanes.of(answer);
    const change = lane.observe(answer);
    if (change === 'opened') this.release();
    const block = change === 'paused' ? lane.pause.blocked() : undefined;
    if (block) for (const waiter of lane.line.all()) report(waiter, block);
  }

  pausedMs(): number {
    const now = this.scheduler.now();
    let leastMs = Infinity;
    for (const lane of this.lanes.values())
      if (lane.wasUsed(now)) leastMs = Math.min(leastMs, lane.pause.blocked()?.forMs ?? 0);
    return leastMs === Infinity ? 0 : leastMs;
  }

  private enter(waiter: Waiter, request: GateRequest): void {
    if (this.tryPass(request)) return waiter.complete();
    const lane = this.lanes.of(request);
    const isUrgent = urgent(request.kind);
    const block = lane.blocked(lane.line.ahead(isUrgent)) ?? waitOf(this.shared, this.crowdAhead(isUrgent));
    lane.line.add(waiter, isUrgent, this.arrivals++);
    this.crowded.add(lane);
    waiter.add(() => {
      lane.line.delete(waiter);
      if (lane.line.size === 0) this.crowded.delete(lane);
      if (!this.isReleasing) this.setAlarm();
    });
    if (!this.isReleasing) this.setAlarm();
    if (block) report(waiter, block);
  }

  private pass(lane: Lane, hasWaited: boolean): void {
    lane.passed(this.scheduler.now(), hasWaited);
    this.shared?.take(hasWaited);
  }

  /** How many wait for the rate of all, and go before a newcomer. */
  private crowdAhead(isUrgent: boolean): number {
    let ahead = 0;
    for (const lane of this.crowded)
      if (lane.pause.blocked() === undefined) ahead += lane.line.ahead(isUrgent);
    return ahead;
  }

  /** Runs only while a request waits, so that a pause never keeps a process alive. */
  private setAlarm(): void {
    if (this.crowded.size === 0) {
      this.alarm?.unsubscribe();
      this.alarm = undefined;
      return;
    }
    if (this.alarm !== undefined) return;
    let waitMs = Infinity;
    for (const lane of this.crowded) {
      const held = lane.pause.blocked();
      const forMs = Math.max(lane.blocked()?.forMs ?? 0, waitOf(this.shared)?.forMs ?? 0);
      if (forMs >= waitMs) continue;
      waitMs = forMs;
      this.isPaced = held === undefined;
    }
    this.alarm = this.scheduler.schedule(() => this.release(), clampTimer(Math.ceil(waitMs)));
  }

  /** Lets through whatever may pass now. What comes back here meanwhile is served by the loop that is running. */
  private release(): void {
    if (this.isReleasing) return;
    this.isReleasing = true;
    this.alarm?.unsubscribe();
    this.alarm = undefined;
    for (let lane = this.next(); lane; lane = this.next()) {
      const waiter = lane.line.first();
      if (waiter === undefined) break;
      lane.line.delete(waiter);
      if (lane.line.size === 0) this.crowded.delete(lane);
      this.pass(lane, this.isPaced);
      waiter.complete();
    }
    this.isReleasing = false;
    this.setAlarm();
  }

  /** The lane whose first request may pass now: polls before submissions, then the one that came first. */
  private next(): Lane | undefined {
    if (waitOf(this.shared) !== undefined) return undefined;
    let best: Lane | undefined;
    for (const lane of this.crowded) {
      if (best !== undefined && lane.line.firstPlace > best.line.firstPlace) continue;
      if (lane.blocked() === undefined) best = lane;
    }
    return best;
  }
}

/** What a gate knows of one endpoint. */
class Lane {
  readonly line: WaitingLine<Waiter> = createWaitingLine();
  private usedAt = -Infinity;
  private readonly found: AdaptivePace | undefined;

  constructor(
    readonly pause: EndpointPause,
    private readonly pace: Pace | AdaptivePace | undefined,
  ) {
    this.found = pace !== undefined && 'observe' in pace ? pace : undefined;
  }

  get ratePerSecond(): number | undefined {
    return this.pace?.ratePerSecond;
  }

  blocked(ahead = 0): Block | undefined {
    return this.pause.blocked() ?? waitOf(this.pace, ahead);
  }

  passed(now: number, hasWaited: boolean): void {
    this.usedAt = now;
    this.pause.passed();
    this.pace?.take(hasWaited);
  }

  observe(answer: GateAnswer): 'paused' | 'opened' | undefined {
    const change = this.pause.observe(answer);
    if (answer.status !== 0) this.found?.observe(isRefusal(answer), change === 'paused' && isRefusal(answer));
    return change;
  }

  wasUsed(now: number): boolean {
    return Math.abs(now - this.usedAt) < forgetAfterMs;
  }

  isIdle(now: number): boolean {
    return this.line.size === 0 && this.pause.isIdle && !this.wasUsed(now);
  }
}

function urgent(kind: RequestKind): boolean {
  return kind !== 'submit';
}

function waitOf(pace: Pace | undefined, ahead = 0): Block | undefined {
  if (pace === undefined) return undefined;
  const forMs = pace.waitMs(ahead);
  return forMs > 0 ? { why: 'gate', forMs } : undefined;
}

function report(waiter: Waiter, block: Block): void {
  if (block.why !== 'gate' || block.forMs >= reportFromMs) waiter.next(block);
}
