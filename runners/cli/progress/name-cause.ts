import type { WaitReason } from '../../../src/contract/outcome.js';
import { formatDuration } from '../messages/plain-text.js';
import type { ProgressView } from './progress-view.js';

/** A silence shorter than this is not reported. */
const patienceMs = 10_000;
/** A wait with a known cause is shown after this time; shorter waits would flicker. */
const flickerMs = 2_000;

/** The facts about a run in which nothing may be moving. */
export interface Standing extends Pick<
  ProgressView,
  'inFlight' | 'accepted' | 'queued' | 'isQueueOld' | 'working' | 'saving'
> {
  /** When something last moved: a row began, was taken up by a worker, or ended. */
  readonly movedAt: number;
  /** When a row last ended, or else when the start began. */
  readonly endedAt: number;
  /** Until when requests have to wait, by reason. */
  readonly waits: ReadonlyMap<WaitReason, number>;
  /** Why the latest request did not reach the service. */
  readonly unreached?: string | undefined;
  /** The last answer of /health. */
  readonly health?: string | undefined;
}

/** Why nothing moves, in a few words; `undefined` while it moves. A wait is reported after 2 s, a silence after 10 s. */
export function nameCause(standing: Standing, at: number): string | undefined {
  const stillMs = at - standing.movedAt;
  if (stillMs < flickerMs) return undefined;
  const ordered = nameWait(standing, at);
  if (ordered !== undefined || stillMs < patienceMs) return ordered;
  const still = formatDuration(stillMs);
  const health = standing.health === undefined ? '' : `; ${standing.health}`;
  const sinceEnd = formatDuration(at - standing.endedAt);
  if (standing.working > 0) return `jobs at work, none has ended for ${sinceEnd}${health}`;
  if (standing.accepted > 0 || standing.isQueueOld)
    return `no job seen to begin or end for ${still}${health}`;
  if (standing.queued > 0) return `queue not moving for ${still}${health}`;
  if (standing.inFlight > 0) return `no reply for ${still}`;
  return standing.saving > 0 ? `saving results, none has ended for ${sinceEnd}` : undefined;
}

function nameWait({ waits, unreached }: Standing, at: number): string | undefined {
  const untilLimit = (waits.get('rate-limited') ?? 0) - at;
  if (untilLimit > 0) return `rate limited by the service, continuing in ${formatDuration(untilLimit)}`;
  const untilTry = (waits.get('backoff') ?? 0) - at;
  const why = unreached === undefined ? '' : `: ${unreached}`;
  if (untilTry > 0) return `backing off, next try in ${formatDuration(untilTry)}${why}`;
  const untilFound = (waits.get('not-found') ?? 0) - at;
  if (untilFound > 0) return `the service does not know a job, asking again in ${formatDuration(untilFound)}`;
  const untilGate = (waits.get('gate') ?? 0) - at;
  return untilGate > 0 ? `requests are held back for ${formatDuration(untilGate)}` : undefined;
}
