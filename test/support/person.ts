import { Subject, type SchedulerLike } from 'rxjs';
import {
  runBatch,
  type RunBatchOptions,
  type RunEvent,
  type StopOrder,
} from '../../runners/batch/run-batch.js';
import { settleRow, type Settlement } from '../../runners/batch/settle-row.js';
import { asCsv, EditedManifest, pick, type Line, type Random } from './manifest-edits.js';
import { edit } from './manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from './paper-run.js';
import { seeded } from './seeded.js';

const price = 87_500;
const starts = 6;

const behaviours = [
  ...Array<'complete'>(4).fill('complete'),
  'fail',
  'lose-answer',
  'lose-request',
  'hang',
  'forget',
  'busy',
  'unreachable',
] as const;
const retries = [['failed'], ['failed'], ['unknown'], ['failed', 'unknown'], ['expired'], ['all']];
type Behaviour = (typeof behaviours)[number];
const neverBegun: ReadonlySet<string> = new Set(['lose-request', 'busy', 'unreachable']);

interface ResultLine {
  readonly id: string;
  readonly request: { readonly input: { readonly prompt: string } };
  readonly output: { readonly image_url?: string };
}

interface FailureLine {
  readonly id: string;
  readonly prompt: string;
  readonly error: { readonly code: string };
}

/** Where a person's run goes. */
export interface PersonsWorld {
  readonly run: Pick<PaperRun, 'service' | 'disk' | 'manifest' | 'options' | 'text' | 'lines'> & {
    readonly scheduler: SchedulerLike;
  };
  /**
   * Starts the run, and lets time pass until it has ended.
   *
   * @param watch called with each event, and with what kills the process
   * @returns `undefined` if the process was killed
   */
  start(
    options: RunBatchOptions,
    watch: (event: RunEvent, kill: () => void) => void,
  ): Promise<PaperEnd | undefined>;
  /** Rows of the run are in a database: only a start that has it may continue them. */
  readonly isElsewhere?: boolean;
  /** Ends all processes. Returns what was wrong with others than the run's own. */
  end?(): string[];
}

/** One process after the other, without a database. */
function paperWorld(): PersonsWorld {
  const run = paperRun();
  return {
    run,
    async start(options, watch) {
      const { disk } = run;
      const kill = () => {
        run.disk = disk.handOver();
      };
      const end = await run.follow(runBatch(options), (event) => watch(event, kill));
      return disk.crashed ? undefined : end;
    },
  };
}

/**
 * A person with one run: edits its manifest, starts it, stops or kills it, and settles by the service's account what is in
 * doubt. She seldom agrees to buy what the run has bought before.
 */
class Person {
  /** What she did, and how the starts ended. */
  readonly story: string[] = [];
  private readonly run: PersonsWorld['run'];
  private readonly manifest: EditedManifest;
  /** How often one manifest asked for each prompt, at most. */
  private readonly asked = new Map<string, number>();
  private readonly posts = new Map<string, number>();
  /** The jobs that the service has begun, in order, with what becomes of them. */
  private readonly jobs = new Map<string, string>();
  /** Jobs that she has named for a row and not taken back, or paid for. */
  private readonly settled = new Set<string>();
  /** Jobs that she has named for a row and taken back. */
  private readonly undone = new Set<string>();
  private readonly completed = new Set<string>();
  /** The cap in force, in US dollars. */
  private cap = Infinity;
  private readonly overCap: string[] = [];
  private wasKilled = false;

  constructor(
    private readonly random: Random,
    private readonly world: PersonsWorld,
  ) {
    this.run = world.run;
    this.manifest = new EditedManifest(random, random() < 0.3);
    this.run.service.picture = () => (random() < 0.15 ? 503 : 200);
  }

  /** Returns what is wrong at the end of one of the starts, the last of which nobody disturbs. */
  async live(): Promise<string[]> {
    for (let start = 1; start <= starts; start++) {
      const isLast = start === starts;
      this.editManifest(start === 1 || isLast ? 0 : Math.floor(this.random() * 3));
      this.run.service.behave = (prompt) => this.behave(prompt, isLast ? ['complete'] : behaviours);
      if (start > 1) await this.settleSome();
      const end = await this.start(isLast);
      this.story.push(end === undefined ? 'killed' : `exit ${end.exitCode}: ${end.reason}`);
      const broken = end === undefined ? [] : this.brokenBy(end, isLast);
      if (broken.length > 0) return broken;
    }
    return [];
  }

  private editManifest(count: number): void {
    this.story.push(...this.manifest.edit(count));
    const { lines } = this.manifest;
    for (const [prompt, count] of countsOf(lines.map(({ prompt }) => prompt)))
      this.asked.set(prompt, Math.max(count, this.asked.get(prompt) ?? 0));
    this.run.manifest(this.random() < 0.5 ? lines.map(({ id, ...more }) => edit(id, more)) : asCsv(lines));
  }

  private behave(prompt: string, all: readonly Behaviour[]): Behaviour {
    const nth = (this.posts.get(prompt) ?? 0) + 1;
    this.posts.set(prompt, nth);
    const behaviour = pick(all, this.random);
    if (!neverBegun.has(behaviour)) this.jobs.set(`job-${prompt}-${nth}`, behaviour);
    return behaviour;
  }

  private async settleSome(): Promise<void> {
    // Workers may have rows of a start that was killed: nothing can be settled until the next one has taken them back.
    if (this.world.isElsewhere === true) return;
    const lines = this.run.lines('failures.jsonl') as unknown as FailureLine[];
    for (const { id, prompt, error } of lines)
      if (error.code === 'unknown' && this.random() < 0.6) await this.settle(id, prompt);
  }

  private async settle(id: string, prompt: string): Promise<void> {
    const { random, run } = this;
    const job = this.lostJob(prompt);
    const isFailing = job !== undefined && this.jobs.get(job) === 'fail';
    const settlement: Settlement =
      job === undefined
        ? { notSent: true }
        : isFailing || random() < 0.5
          ? { jobId: job }
          : { paidUsd: price / 1e6 };
    await this.settleAs(id, settlement);
    if ('jobId' in settlement && !isFailing) run.service.revive(settlement.jobId);
    const isUndone = random() < 0.15 && !('paidUsd' in settlement);
    if (isUndone) await this.settleAs(id, { undo: true });
    if (job !== undefined) (isUndone ? this.undone : this.settled).add(job);
  }

  /** A job for the prompt that stands in the account of the service and that no row of the run has. */
  private lostJob(prompt: string): string | undefined {
    const journal = this.run.text('journal.jsonl');
    return [...this.jobs.keys()].find(
      (job) =>
        job.startsWith(`job-${prompt}-`) &&
        !this.settled.has(job) &&
        (this.undone.has(job) || !journal.includes(JSON.stringify(job))),
    );
  }

  private async settleAs(id: string, settlement: Settlement): Promise<void> {
    const { disk, scheduler } = this.run;
    const hold = () => Promise.resolve({ release: () => Promise.resolve() });
    this.story.push(`settled ${id}: ${JSON.stringify(settlement)}`);
    await settleRow('/job/out', id, settlement, { disk, scheduler, hold });
  }

  /** Returns `undefined` if the process was killed. */
  private async start(isLast: boolean): Promise<PaperEnd | undefined> {
    const { random, run } = this;
    const stop = new Subject<StopOrder>();
    const disturbed = pick(['not', 'not', 'graceful', 'now', 'killed', 'killed'] as const, random);
    const end = isLast ? 'not' : disturbed;
    const mode = pick(['sync', 'async'] as const, random);
    const isCapped = !isLast && random() < 0.2;
    const maxCostUsd = isLast ? null : isCapped ? (price / 1e6) * (1 + Math.floor(random() * 6)) : undefined;
    if (maxCostUsd !== undefined) this.cap = maxCostUsd ?? Infinity;
    const billBefore = this.bill;
    const { manifest, ...options } = run.options({
      concurrency: pick([1, 3], random),
      timeoutMs: pick([5_000, 60_000], random),
      stop,
      ...(random() < 0.3 && { retry: this.retried(pick(retries, random)) }),
      ...(random() < 0.3 && { changed: 'redo' }),
      ...(!isLast && random() < 0.1 && { only: [pick(this.manifest.lines, random).id] }),
      ...(!isLast && random() < 0.1 && { halt: { count: 1 + Math.floor(random() * 3) } }),
      ...(!isLast && random() < 0.2 && { limit: 1 + Math.floor(random() * 2) }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
      confirm: (_, ahead) => Promise.resolve(ahead.bought === undefined || this.agrees()),
      ...(random() < 0.5 && { add: true }),
    });
    let eventsLeft = 1 + Math.floor(random() ** 2 * 40);
    const ended = await this.world.start({ ...options, manifest: { ...manifest, mode } }, (event, kill) => {
      if (end === 'killed' && --eventsLeft === 0) kill();
      const isOnItsWay =
        event.type === 'row' && event.event.type === pick(['submitting', 'accepted'], random);
      if ((end === 'graceful' || end === 'now') && isOnItsWay) stop.next(end);
    });
    if (!this.wasKilled && this.bill > Math.max(Math.round(this.cap * 1e6), billBefore))
      this.overCap.push(`the bill went from ${billBefore} to ${this.bill} under a cap of $${this.cap}`);
    // Whether a start that was killed or refused has noted its cap is not known, and workers go on with what a killed one fed.
    if (maxCostUsd !== undefined && (ended === undefined || ended.exitCode === 2)) this.cap = Infinity;
    this.wasKilled = ended === undefined;
    return ended;
  }

  /** Whether she buys again what the run has bought. */
  private agrees(): boolean {
    const isAgreed = this.random() < 0.4;
    // Two rows may ask for the same.
    if (isAgreed) this.agreeTo('what was bought before', this.manifest.lines.length);
    return isAgreed;
  }

  private retried(words: readonly string[]): readonly string[] {
    // As often as there are rows in doubt or expired for it; two rows seldom ask for the same.
    if (words.some((word) => word !== 'failed')) this.agreeTo(`--retry ${words.join(',')}`, 4);
    return words;
  }

  private agreeTo(what: string, times: number): void {
    this.story.push(`agreed to ${what}`);
    for (const [prompt, count] of this.asked) this.asked.set(prompt, count + times);
  }

  private brokenBy(end: PaperEnd, isLast: boolean): string[] {
    if ([70, 74].includes(end.exitCode)) return [end.reason];
    if (end.exitCode === 2) return this.boughtTooOften();
    return [
      ...this.boughtTooOften(),
      ...this.answersOfOthers(),
      ...this.lostResults(),
      ...this.overCap,
      ...this.notInTheBooks(end),
      ...([0, 1, 6].includes(end.exitCode) ? this.notNamed(end) : []),
      ...(isLast ? this.lostRows() : []),
    ];
  }

  /** A request is paid as often as one manifest asked for it. */
  private boughtTooOften(): string[] {
    return [...this.run.service.bill]
      .map(([prompt, paid]) => ({ prompt, count: paid / price, asked: this.asked.get(prompt) ?? 0 }))
      .filter(({ count, asked }) => count > asked)
      .map(
        ({ prompt, count, asked }) => `"${prompt}" was bought ${count} times, and asked for ${asked} times`,
      );
  }

  private answersOfOthers(): string[] {
    return this.results()
      .filter(({ request, output }) => !output.image_url?.endsWith(`/${request.input.prompt}.png`))
      .map(({ id }) => `"${id}" has the answer to another request`);
  }

  /** A row that has completed has a result from then on, also while it is bought again. */
  private lostResults(): string[] {
    const there = this.results().map(({ id }) => id);
    const lost = [...this.completed].filter((id) => !there.includes(id));
    for (const id of there) this.completed.add(id);
    const twice = there.length - new Set(there).size;
    return [
      ...lost.map((id) => `the result of "${id}" is gone`),
      ...(twice > 0 ? [`${twice} rows have two results`] : []),
    ];
  }

  private notInTheBooks({ summary }: PaperEnd): string[] {
    const { reported, estimated, unknown, reserved = 0, unsaved = 0 } = summary.cost;
    const books = Math.round((reported + estimated + unknown + reserved + unsaved) * 1e6);
    return books < this.bill ? [`the books have ${books}, and the bill is ${this.bill}`] : [];
  }

  /** What the service has charged so far, in millionths of a dollar. */
  private get bill(): number {
    return [...this.run.service.bill.values()].reduce((sum, paid) => sum + paid, 0);
  }

  /**
   * A row that has ended holds the answer to what it asks for now, or is named as changed. Not named are rows whose redo has
   * failed, because they are among the failures, and rows that ask for what a redo has replaced.
   */
  private notNamed({ events, summary }: PaperEnd): string[] {
    const ahead = events.flatMap((event) => (event.type === 'checked' ? [event.ahead] : []))[0];
    const named = ahead?.changed.count ?? 0;
    const promptOf = new Map(this.results().map(({ id, request }) => [id, request.input.prompt]));
    const failed = new Set(this.run.lines('failures.jsonl').map(({ id }) => id));
    const earlier = this.run.lines('earlier.jsonl') as unknown as ResultLine[];
    const isReplaced = (line: Line) =>
      earlier.some(({ id, request }) => id === line.id && request.input.prompt === line.prompt);
    const wrong = this.manifest.lines.filter(
      (line) =>
        promptOf.has(line.id) &&
        promptOf.get(line.id) !== line.prompt &&
        !failed.has(line.id) &&
        !isReplaced(line),
    );
    // A row that only writes its request in another way is said to have changed as well. Rows to go may be redone.
    return wrong.length <= named + summary.rows.toDo
      ? []
      : [`${wrong.length} rows hold another answer, and ${named} are said to have changed`];
  }

  private lostRows(): string[] {
    const ended = new Set([...this.results(), ...this.run.lines('failures.jsonl')].map(({ id }) => id));
    return this.manifest.lines.filter(({ id }) => !ended.has(id)).map(({ id }) => `row "${id}" is lost`);
  }

  private results(): ResultLine[] {
    return this.run.lines('results.jsonl') as unknown as ResultLine[];
  }
}

/**
 * Plays the lives of some persons. Returns those in which something went wrong, by their seeds.
 *
 * @param worldOf where each one's run goes. @defaultValue processes without a database
 */
export async function playPersons(
  firstSeed: number,
  count: number,
  worldOf: (random: Random) => PersonsWorld = paperWorld,
): Promise<Record<string, string[]>> {
  const broken: Record<string, string[]> = {};
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const random = seeded(seed);
    const world = worldOf(random);
    const person = new Person(random, world);
    const problems = [...(await person.live()), ...(world.end?.() ?? [])];
    if (problems.length > 0) broken[`seed ${seed}`] = [...person.story, ...problems];
  }
  return broken;
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
