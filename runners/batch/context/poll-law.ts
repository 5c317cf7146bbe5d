import type { SchedulerLike } from 'rxjs';
import * as z from 'zod';
import { learned } from '../../../src/policy/polling/learned.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';

/** When to ask for jobs, learned over all starts of a run. */
export interface PollLaw {
  readonly schedule: PollSchedule;
  /** The law in the folder could not be read, and why: it is learned anew. */
  readonly problem: string | undefined;
  /** Writes what has been learned since the last time, for the next start. */
  keep(): Promise<void>;
}

export interface PollLawOptions {
  readonly disk: Disk;
  /** The output folder. */
  readonly out: string;
  /** What one status call is worth, in ms of lag. */
  readonly pollCostMs: number;
  readonly scheduler: SchedulerLike;
  /** A schedule to be used instead of the learned one: nothing is kept. */
  readonly schedule?: PollSchedule | undefined;
}

type Laws = Readonly<Record<string, { readonly runTimesMs: readonly number[] }>>;

const fileSchema = z.object({
  version: z.literal(1),
  laws: z.record(z.string(), z.object({ runTimesMs: z.array(z.number().positive()).min(1) })),
});
/** A hundred laws of 400 run times each are a quarter of it. A longer file is none of ours. */
const longestBytes = 2 << 20;

/** Takes up the law of run times that earlier starts left in `poll-law.json`. A damaged file is ignored, and named. */
export async function openPollLaw(options: PollLawOptions): Promise<PollLaw> {
  const { schedule, pollCostMs, scheduler } = options;
  if (schedule !== undefined) return { schedule, problem: undefined, keep: () => Promise.resolve() };
  const { laws, problem } = await readLaws(options);
  const learning = learned({ msPerCall: pollCostMs, kept: laws }, scheduler);
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
      await writeLaws(options, { ...laws, ...learning.keep() });
    },
  };
}

const lawPath = ({ out }: PollLawOptions): string => `${out}/poll-law.json`;

async function readLaws(options: PollLawOptions): Promise<{ laws: Laws; problem?: string }> {
  const path = lawPath(options);
  try {
    const found = await options.disk.stat(path);
    if (found === undefined) return { laws: {} };
    if (found.kind !== 'file' || found.size > longestBytes) throw new Error('it is no file of a run');
    return {
      laws: fileSchema.parse(JSON.parse((await readFile(options.disk, path, found.size)).toString())).laws,
    };
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it has another shape' : (error as Error).message;
    return { laws: {}, problem: `${path} cannot be read and is learned anew: ${why}.` };
  }
}

async function writeLaws(options: PollLawOptions, laws: Laws): Promise<void> {
  const known = Object.fromEntries(Object.entries(laws).filter(([, law]) => law.runTimesMs.length > 0));
  if (Object.keys(known).length === 0) return;
  await replaceFile(options.disk, lawPath(options), `${JSON.stringify({ version: 1, laws: known })}\n`);
}
