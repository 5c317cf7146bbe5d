import { asyncScheduler, Observable } from 'rxjs';
import type { SchedulerLike, Subscriber, Subscription } from 'rxjs';
import { clampTimer } from './clamp-timer.js';
import type { Gate, RequestKind } from './gate.js';
import type { Pace } from './pace.js';
import { createSharedPause } from './shared-pause.js';
import type { Block } from './shared-pause.js';
import { createWaitingLine } from './waiting-line.js';

/** The clock and the chance of a gate. */
export interface GateOptions {
  /** @defaultValue asyncScheduler */
  scheduler?: SchedulerLike;
  /** From 0 to 1. @defaultValue Math.random */
  random?: () => number;
}

/** A wait for the rate or for a probe is told from this many ms on: a person does not want to hear of shorter ones. */
const tellFromMs = 1_000;

/** The gate itself: one pause for all, a pace where there is one, polls and cancels before new submissions. */
export function createTurnstile(options: GateOptions, pace?: Pace): Gate {
  const { scheduler = asyncScheduler, random = Math.random } = options;
  const pause = createSharedPause(scheduler, random);
  const line = createWaitingLine<Subscriber<Block>>();
  let alarm: Subscription | undefined;
  let releasing = false;
  /** It is the rate that those in line wait for, and no pause: what a late timer costs them is made up for. */
  let isPaced = false;

  /** Runs only while somebody waits, so that a pause never keeps a process alive. */
  function setAlarm(): void {
    if (line.size === 0) {
      alarm?.unsubscribe();
      alarm = undefined;
    } else {
      const held = pause.blocked();
      const waitMs = Math.ceil(blockOf(held, pace)?.forMs ?? 0);
      isPaced = held === undefined;
      alarm ??= scheduler.schedule(release, clampTimer(waitMs));
    }
  }

  /** Lets through whoever may pass now. Who comes back here meanwhile is served by the loop that is running. */
  function release(): void {
    if (releasing) return;
    releasing = true;
    alarm?.unsubscribe();
    alarm = undefined;
    for (let next = line.first(); next && !blockOf(pause.blocked(), pace); next = line.first()) {
      line.delete(next);
      pause.passed();
      pace?.take(isPaced);
      next.complete();
    }
    releasing = false;
    setAlarm();
  }

  function tryPass(urgent: boolean): boolean {
    if (releasing || line.ahead(urgent) > 0 || blockOf(pause.blocked(), pace)) return false;
    pause.passed();
    pace?.take();
    return true;
  }

  function enter(waiter: Subscriber<Block>, urgent: boolean): void {
    if (tryPass(urgent)) return waiter.complete();
    const block = blockOf(pause.blocked(), pace, line.ahead(urgent));
    line.add(waiter, urgent);
    waiter.add(() => {
      line.delete(waiter);
      if (!releasing) setAlarm();
    });
    if (!releasing) setAlarm();
    if (block) tell(waiter, block);
  }

  return {
    admit: ({ kind }) => new Observable((waiter) => enter(waiter, isUrgent(kind))),
    tryPass: ({ kind }) => tryPass(isUrgent(kind)),
    observe(answer) {
      const change = pause.observe(answer);
      if (change === 'opened') release();
      const block = change === 'paused' ? pause.blocked() : undefined;
      if (block) for (const waiter of line.all()) tell(waiter, block);
    },
  };
}

function isUrgent(kind: RequestKind): boolean {
  return kind !== 'submit';
}

function blockOf(pauseBlock: Block | undefined, pace: Pace | undefined, ahead = 0): Block | undefined {
  if (pauseBlock || !pace) return pauseBlock;
  const forMs = pace.waitMs(ahead);
  return forMs > 0 ? { why: 'gate', forMs } : undefined;
}

function tell(waiter: Subscriber<Block>, block: Block): void {
  if (block.why !== 'gate' || block.forMs >= tellFromMs) waiter.next(block);
}
