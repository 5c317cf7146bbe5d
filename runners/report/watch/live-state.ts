import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { parseObject } from '../read/json-object.js';
import { readIfThere } from '../read/read-jsonl.js';

/** The name of the state file in the run's folder. The file is removed when the run has ended. */
export const liveStateFile = '.live.json';

/** The state of a running run that is not in its other files, written once a second for the live page. */
export interface LiveState {
  /** When it was written, ms since the epoch. */
  readonly at: number;
  /** Number of rows of the plan: those that this start does or that had ended before, even if its manifest does not have them. */
  readonly rows?: number;
  /** Rows that have begun and not ended, without those being saved. */
  readonly inFlight: number;
  /** Rows that are sent but not answered. */
  readonly sending?: number;
  /** Rows that the service has accepted without reporting whether they run. */
  readonly accepted?: number;
  readonly queued: number;
  /** Whether some of these have not been polled for a while. */
  readonly isQueueOld?: boolean;
  readonly working: number;
  readonly isWorkOld?: boolean;
  readonly saving: number;
  /** Absent while nothing moves, and until there is enough data. */
  readonly rowsPerMinute?: number;
  readonly leftMs?: number;
  /** Why nothing moves, with the health that the service reports. */
  readonly cause?: string;
  readonly isStopping: boolean;
}

/** An older state is from a process that has died or hangs. */
const freshMs = 15_000;

/** The state that a run wrote last; `undefined` if it is missing or old. `now` in ms since the epoch. */
export async function readLiveState(disk: Disk, folder: string, now: number): Promise<LiveState | undefined> {
  const state = await lastLiveState(disk, folder);
  return state !== undefined && Math.abs(now - state.at) < freshMs ? state : undefined;
}

/** The same, however old: if a start was killed before its first summary, its number of rows is only here. */
export async function lastLiveState(disk: Disk, folder: string): Promise<LiveState | undefined> {
  const bytes = await readIfThere(disk, join(folder, liveStateFile), 10_000);
  const state = parseObject(bytes?.toString() ?? '');
  return isLiveState(state) ? state : undefined;
}

function isLiveState(value: unknown): value is LiveState {
  const counts = value as Record<string, unknown> | undefined;
  return ['at', 'inFlight', 'queued', 'working', 'saving'].every(
    (name) => typeof counts?.[name] === 'number',
  );
}
