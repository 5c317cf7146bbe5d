import type { CallWeather } from './callbacks.js';
import type { Illness, StrangeReply } from './strange-replies.js';

/** What may go wrong, each with its chance a request. */
export interface Weather {
  /** Before a request reaches the service: no connection, or it is refused. */
  readonly refusals: number;
  /** After it was worked on, or nobody knows: resets, cut and unreadable replies, 5xx. */
  readonly unknowns: number;
  /** The same on what is free to repeat. */
  readonly reads: number;
  /** /runsync gives up waiting. */
  readonly early: number;
  /** A download breaks. */
  readonly downloads: number;
  /** How long a result can be asked for once it is there, in ms. */
  readonly retentionMs: number;
  readonly calls?: CallWeather;
  readonly strange?: Readonly<Partial<Record<StrangeReply, number>>>;
  readonly illness?: Illness;
}

export const fairWeather: Weather = {
  refusals: 0,
  unknowns: 0,
  reads: 0,
  early: 0.2,
  downloads: 0,
  retentionMs: 30 * 60_000,
};
