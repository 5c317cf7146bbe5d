import type { Observable, Unsubscribable } from 'rxjs';
import type { Outcome } from '../contract/outcome.js';
import type { PollSchedule } from './polling/poll-schedule.js';

/** A callback that the service sent to the address of a job. */
export interface Callback {
  /** The POST of the job that this address was sent with, counted from 1. */
  readonly attempt: number;
  /** `undefined` if it was too long or incomplete. */
  readonly body: string | undefined;
}

/**
 * The effect of a callback. `settled`: the job's end is durable. `noted`: the job goes on. `unreadable`: the body is not a job
 * status. `foreign`: it is about another job or a refused POST, and changed nothing.
 */
export type CallbackResult = 'settled' | 'noted' | 'unreadable' | 'foreign';

/** The callbacks of one job: `WebhookReceiver.row` returns it, and the job takes it as its `webhook` option. */
export interface JobWebhook {
  /** The webhook URL to send with a POST of the job. Each POST has its own URL; `attempt` counts them from 1. */
  address(attempt: number): string | PromiseLike<string>;
  /** Calls `take` with each callback until unsubscribed. The result of `take` completes without a value if nothing became durable. */
  listen(take: (callback: Callback) => Observable<CallbackResult>): Unsubscribable;
  /** Reports that the job's outcome is durable: later callbacks change nothing. */
  ended(outcome: Outcome<unknown>): void;
  /** Emits when a job whose POST had no answer should stop waiting for a callback. */
  readonly giveUp$: Observable<unknown>;
  /**
   * Reports that a purchase has two job ids, or the id of another job: the service may have created two jobs or mixed up its
   * answers.
   */
  contradicted(jobId: string): void;
}

/** Creates the callbacks for the jobs of an endpoint. */
export interface JobWebhooks {
  /** The callbacks of a new job. */
  job(key: string): JobWebhook;
  /** A schedule that polls rarely while callbacks come. */
  poll(schedule: PollSchedule): PollSchedule;
}
