import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { parseObject } from '../read/json-object.js';
import { openIfThere } from '../read/read-jsonl.js';

/** In the run's folder, beside its files; gone once the run has ended. */
export const liveStateFile = '.live.json';

/** What a run that goes knows beside its files: it writes it once a second for pages that watch it. */
export interface LiveState {
  /** When it was written, ms since the epoch. */
  readonly at: number;
  /** Rows of the plan: those that this start takes up or that had ended before, also where its manifest does not have them. */
  readonly rows?: number;
  /** Begun and not ended, those being saved not counted; of them in the service's queue, and at work there. */
  readonly inFlight: number;
  /** Sent and not answered; at the service, which has not reported yet whether it works on them. */
  readonly sending?: number;
  readonly accepted?: number;
  readonly queued: number;
  /** Some of these have not been asked about for a while. */
  readonly isQueueOld?: boolean;
  readonly working: number;
  readonly isWorkOld?: boolean;
  readonly saving: number;
  /** Absent while nothing moves, and until there is enough data. */
  readonly rowsPerMinute?: number;
  readonly leftMs?: number;
  /** Why nothing moves, with what the service says of itself. */
  readonly cause?: string;
  readonly isStopping: boolean;
}

/** A state older than this is of a process that has died or hangs. */
const freshMs = 15_000;

/** The state that a run wrote last; `undefined` when it is missing or old. `now` in ms since the epoch. */
export async function readLiveState(disk: Disk, folder: string, now: number): Promise<LiveState | undefined> {
  const state = await lastLiveState(disk, folder);
  return state !== undefined && Math.abs(now - state.at) < freshMs ? state : undefined;
}

/** The same however old it is: a start that was killed before its first summary has its count of rows nowhere else. */
export async function lastLiveState(disk: Disk, folder: string): Promise<LiveState | undefined> {
  const file = await openIfThere(disk, join(folder, liveStateFile));
  if (file === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(Math.min(await file.size(), 10_000));
    const state = parseObject(bytes.toString('utf8', 0, await file.read(bytes, 0)));
    return isLiveState(state) ? state : undefined;
  } finally {
    await file.close();
  }
}

function isLiveState(value: unknown): value is LiveState {
  const counts = value as Record<string, unknown> | undefined;
  return ['at', 'inFlight', 'queued', 'working', 'saving'].every(
    (name) => typeof counts?.[name] === 'number',
  );
}
