import { VirtualTimeScheduler } from 'rxjs';
import { runBatch, type RunBatchOptions, type RunEvent } from '../../runners/batch/run-batch.js';
import { pollFixed } from '../../src/policy/polling/poll-schedule.js';
import { ForgetfulDisk, type ForgetfulDiskOptions } from './forgetful-disk.js';
import { paperService, type PaperService } from './paper-service.js';

/** A run with nothing real in it: disk, service and time are in memory. */
export interface PaperRun {
  readonly service: PaperService;
  readonly scheduler: VirtualTimeScheduler;
  disk: ForgetfulDisk;
  manifest(rows: readonly object[] | string): void;
  /** Starts the run, and lets time pass until it has ended. */
  start(options?: Partial<RunBatchOptions>): Promise<PaperEnd>;
  /** The same by the clock of another run. */
  startBeside(other: PaperRun, options?: Partial<RunBatchOptions>): Promise<PaperEnd>;
  /** Lets time pass until the events come to an end. */
  follow(run: AsyncIterable<RunEvent>, watch?: (event: RunEvent) => void): Promise<PaperEnd>;
  options(options?: Partial<RunBatchOptions>): RunBatchOptions;
  text(name: string): string;
  lines(name: string): Record<string, unknown>[];
  costs(): Record<string, string>[];
}

export interface PaperEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly summary: NonNullable<Extract<RunEvent, { type: 'finished' }>['summary']>;
  readonly events: RunEvent[];
}

const out = '/job/out';

export function paperRun(diskOptions: ForgetfulDiskOptions = {}): PaperRun {
  const scheduler = new VirtualTimeScheduler();
  scheduler.frame = Date.UTC(2027, 0, 1);
  const service = paperService(scheduler);
  let path = '';
  const run: PaperRun = {
    service,
    scheduler,
    disk: new ForgetfulDisk(diskOptions),
    manifest(rows) {
      path = typeof rows === 'string' ? '/job/manifest.csv' : '/job/manifest.jsonl';
      run.disk.plant(
        path,
        typeof rows === 'string' ? rows : rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      );
    },
    options: (options = {}) => ({
      manifest: { path },
      out,
      baseUrl: 'https://paper.test',
      lbBaseUrl: 'https://paper.test',
      apiKey: 'canary-key-5f1e0c7a9b',
      disk: run.disk,
      transport: service.transport,
      saveFrom: service.download,
      scheduler,
      random: () => 0.5,
      schedule: pollFixed(100, scheduler),
      makeThumbnail: () => Promise.resolve(undefined),
      hold: () => Promise.resolve({ release: () => Promise.resolve() }),
      ...options,
    }),
    start: (options = {}) => run.follow(runBatch(run.options(options))),
    startBeside: (other, options = {}) =>
      other.follow(
        runBatch({
          ...run.options(options),
          scheduler: other.scheduler,
          schedule: pollFixed(100, other.scheduler),
        }),
      ),
    follow: (events, watch) => withTime(scheduler, collected(events, watch)),
    text: (name) => run.disk.peek(`${out}/${name}`)?.toString() ?? '',
    lines: (name) =>
      run
        .text(name)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    costs: () => readCosts(run.text('costs.csv')),
  };
  return run;
}

/** The end of a run, and all its events. */
export async function collected(
  events: AsyncIterable<RunEvent>,
  watch: (event: RunEvent) => void = () => undefined,
): Promise<PaperEnd> {
  const seen: RunEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    watch(event);
  }
  const last = seen.at(-1);
  if (last?.type !== 'finished') throw new Error('the run did not finish');
  const { exitCode, reason, summary } = last;
  return { exitCode, reason, summary: summary as PaperEnd['summary'], events: seen };
}

/** Lets time pass until the work is done. */
export async function withTime<T>(scheduler: VirtualTimeScheduler, work: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  done.catch(() => undefined);
  while (!state.isDone) {
    await settled();
    passTime(scheduler);
  }
  return done;
}

/** To the next timer, when nothing else is left to be done. */
function passTime(scheduler: VirtualTimeScheduler): void {
  const next = scheduler.actions[0];
  if (next === undefined) return;
  scheduler.maxFrames = next.delay;
  scheduler.flush();
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Plain cells only. */
function readCosts(text: string): Record<string, string>[] {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const names = head.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [names[index] ?? '', cell])),
  );
}
