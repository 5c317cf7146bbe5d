import * as z from 'zod';
import { pollLearned } from '../../../src/policy/polling/learned.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import { describeFault } from '../stop/exit-of.js';
import type { RunLog } from '../log/open-log.js';
import type { ResolvedOptions } from './resolved-options.js';

/** A poll schedule that is learned over all starts of a run. */
export interface LearnedPolling {
  readonly schedule: PollSchedule;
  /** Why the file of earlier starts could not be read; the schedule is then learned again. */
  readonly problem: string | undefined;
  /** Saves what has been learned since the last call, for the next start. */
  keep(): Promise<void>;
}

/** If `schedule` is given, it is used instead of the learned one, and nothing is saved. */
type PollingOptions = Pick<ResolvedOptions, 'disk' | 'out' | 'pollCostMs' | 'scheduler' | 'schedule'>;

/** By endpoint and variant. */
type RunTimes = Readonly<Record<string, { readonly runTimesMs: readonly number[] }>>;

const fileSchema = z.object({
  version: z.literal(1),
  laws: z.record(z.string(), z.object({ runTimesMs: z.array(z.number().positive()).min(1) })),
});
/** A hundred endpoints with 400 run times each take a quarter of this. A longer file was not written by millrace. */
const longestBytes = 2 << 20;

/** Reads the run times that earlier starts left in `poll-law.json`. A damaged file is ignored and reported as `problem`. */
export async function openPolling(options: PollingOptions): Promise<LearnedPolling> {
  const { schedule, pollCostMs, scheduler } = options;
  if (schedule !== undefined) return { schedule, problem: undefined, keep: () => Promise.resolve() };
  const { kept, problem } = await readRunTimes(options);
  const learning = pollLearned({ msPerCall: pollCostMs, kept }, scheduler);
  let isNew = false;
  return {
    problem,
    schedule: {
      pollTimes: (job) => learning.pollTimes(job),
      observe(key, reply, at) {
        isNew = true;
        learning.observe(key, reply, at);
      },
    },
    async keep() {
      if (!isNew) return;
      isNew = false;
      await writeRunTimes(options, { ...kept, ...learning.keep() });
    },
  };
}

const pollingPath = ({ out }: PollingOptions): string => `${out}/poll-law.json`;

async function readRunTimes(options: PollingOptions): Promise<{ kept: RunTimes; problem?: string }> {
  const path = pollingPath(options);
  try {
    const found = await options.disk.stat(path);
    if (found === undefined) return { kept: {} };
    if (found.kind !== 'file' || found.size > longestBytes) throw new Error('it is not a file of a run');
    return {
      kept: fileSchema.parse(JSON.parse((await readFile(options.disk, path, found.size)).toString())).laws,
    };
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it has another shape' : (error as Error).message;
    return { kept: {}, problem: `${path} cannot be read, so run times are learned anew: ${why}.` };
  }
}

async function writeRunTimes(options: PollingOptions, runTimes: RunTimes): Promise<void> {
  const known = Object.fromEntries(
    Object.entries(runTimes).filter(([, { runTimesMs }]) => runTimesMs.length > 0),
  );
  if (Object.keys(known).length === 0) return;
  await replaceFile(options.disk, pollingPath(options), `${JSON.stringify({ version: 1, laws: known })}\n`);
}

/** Saves the learned run times. If the disk fails, the next start makes some more status calls; no row is affected. */
export async function keepPolling({ polling, log }: { polling: LearnedPolling; log: RunLog }): Promise<void> {
  await polling.keep().catch((error: unknown) => {
    log.write('warn', { err: describeFault(error) }, 'poll-law.json could not be written');
  });
}
