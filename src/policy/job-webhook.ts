import type { Observable, Unsubscribable } from 'rxjs';
import type { Outcome } from '../contract/outcome.js';
import type { PollSchedule } from './polling/poll-schedule.js';

/** The service has called the address of a job. */
export interface Callback {
  /** The POST of the job whose address it is, from 1. */
  readonly attempt: number;
  /** `undefined`: it was too long, or broke off. */
  readonly body: string | undefined;
}

/**
 * What a job made of a callback. `settled`: the end of the job is durable. `noted`: the job goes on. `unreadable`: the body is no
 * status of a job. `foreign`: it names the job of somebody else, or a POST that was refused; nothing has changed.
 */
export type CallbackResult = 'settled' | 'noted' | 'unreadable' | 'foreign';

/** The callbacks of one job: what `WebhookReceiver.row` gives, and a job is given as its `webhook`. */
export interface JobWebhook {
  /** The URL that goes with a POST of the job, `attempt` from 1. Each POST has one of its own. */
  address(attempt: number): string | PromiseLike<string>;
  /** Calls `take` with each callback until it is unsubscribed. What it returns completes without a value where nothing became durable. */
  listen(take: (callback: Callback) => Observable<CallbackResult>): Unsubscribable;
  /** The job has ended so, and that is durable: later callbacks change nothing. */
  ended(outcome: Outcome<unknown>): void;
  /** Emits when a job whose POST had no answer is to wait no longer for a callback. */
  readonly giveUp$: Observable<unknown>;
  /** One purchase has two ids, or one that another job has: the service may have made two jobs of it, or has exchanged answers. */
  contradicted(jobId: string): void;
}

/** Where the jobs of an endpoint are called back. */
export interface JobWebhooks {
  /** The callbacks of a new job. */
  job(key: string): JobWebhook;
  /** A schedule that polls rarely while callbacks come. */
  poll(schedule: PollSchedule): PollSchedule;
}
