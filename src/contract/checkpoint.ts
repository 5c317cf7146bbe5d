import type { ObservableInput } from 'rxjs';
import type { Outcome } from './outcome.js';

/**
 * The steps of a purchase that must not be forgotten. A job awaits the checkpoint before it goes on: `intent` completes
 * before the POST leaves (once for each POST), `accepted` before the first poll, `settled` before the last event.
 * `refused` follows an `intent` whose POST was provably not accepted: its reservation is free again.
 */
export type Mark<O> =
  | { type: 'intent'; sync: boolean; attempt: number }
  | { type: 'refused'; why: string; httpStatus?: number }
  | { type: 'accepted'; jobId: string }
  | { type: 'settled'; outcome: Outcome<O> };

/** Completes when the mark is durable. An error keeps the POST from leaving and errors the job. */
export type Checkpoint<O> = (mark: Mark<O>) => ObservableInput<unknown>;
