import type { WireRequest } from '../../transport/transport.js';
import type { PollQuestion } from '../asking/poll-once.js';

/** A job whose chunks are read. `request` asks for its status: that is where its end and its output stand. */
export interface ChunkTask extends PollQuestion {
  /** GET of the chunks since the last such answer. */
  readonly chunks: WireRequest;
  /** From the subscription, in ms. */
  readonly deadlineMs: number;
}
