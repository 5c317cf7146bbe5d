import type { ServiceReach } from '../stop/service-reach.js';
import { stopCauses } from '../stop/stop-causes.js';
import type { Stops } from '../stop/stops.js';

export interface PostAnswer {
  readonly endpoint: string;
  /** When it was sent and when it ended, in ms by one clock. */
  readonly sentAt: number;
  readonly at: number;
  /** Why the POST may have been accepted; `undefined` if its answer decides that. */
  readonly whyUnknown: string | undefined;
}

interface Parts {
  readonly reach: ServiceReach;
  readonly stops: Stops;
  /** Whether a row of another endpoint is in work, whose requests are answered. */
  readonly areOthersAnswered: () => boolean;
}

/** Stops the run if the answers to many successive POSTs are unreadable: each may be charged for without a result. */
export function noteAnswer(
  { reach, stops, areOthersAnswered }: Parts,
  { endpoint, sentAt, at, whyUnknown }: PostAnswer,
): void {
  if (whyUnknown === undefined) return reach.decided(endpoint);
  const posts = reach.undecided(endpoint, { sentAt, at });
  if (posts === undefined || stops.isStopping || areOthersAnswered()) return;
  stops.stop(stopCauses.undecided(posts, whyUnknown));
}
