import { defer, of, Subject, type Observable, type SchedulerLike } from 'rxjs';
import { openDayLedger } from '../../runners/batch/ledger/day-ledger.js';
import { holdRun } from '../../runners/batch/lock/hold-run.js';
import { refetch } from '../../runners/batch/refetch.js';
import { runBatch, type RunBatchOptions, type StopOrder } from '../../runners/batch/run-batch.js';
import { basedImage } from '../../runners/batch/manifest/rows/row-images.js';
import type { ManifestSettings } from '../../runners/batch/manifest/manifest-settings.js';
import { settleRow, type Settlement } from '../../runners/batch/settle-row.js';
import type { Transport, WireReply } from '../../src/transport/transport.js';
import { asCsv, EditedManifest, pick, type Random } from '../support/manifest-edits.js';
import { edit } from '../support/manifest-rows.js';
import { collected, paperRun, withTime, type PaperEnd } from '../support/paper-run.js';
import { paperService } from '../support/paper-service.js';
import { seeded } from '../support/seeded.js';
import { AxesFile } from './persons-axes.js';
import { PersonsFeed } from './persons-feed.js';
import { PersonsPictures, requestName, withoutVersion } from './persons-pictures.js';

const price = 87_500;
const usd = price / 1e6;
const starts = 8;
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const behaviours = [
  ...Array<'complete'>(6).fill('complete'),
  'fail',
  'lose-answer',
  'lose-request',
  'hang',
  'forget',
  'busy',
  'unreachable',
] as const;
type Behaviour = (typeof behaviours)[number];
const neverBegun: ReadonlySet<string> = new Set(['lose-request', 'busy', 'unreachable']);
const retries = [['failed'], ['failed'], ['unknown'], ['failed', 'unknown'], ['expired'], ['all']];

/** The folders of her runs. */
const first = '/job/out';
const second = '/job/again';
const ofResults = '/job/results.out';
const away = '/job/away';
const ofFeed = '/job/feed.out';
const ofRehearsal = '/job/rehearsal.out';

/** How often a start asks for each request, and the galleries of the rows that do. */
type Asks = Map<string, { count: number; galleries: Set<string> }>;

/** What a start is given to read, and where its run goes. */
interface Target {
  readonly out: string;
  readonly path: string;
  readonly settings: Partial<ManifestSettings>;
  readonly asks: Asks;
  readonly options?: Partial<RunBatchOptions>;
  /** The jobs whose results it rejects for other prompts. */
  readonly jobs?: readonly string[];
  /** Its rows, if it may be started later. */
  readonly lines?: readonly (Sent & { readonly gallery: string | undefined })[];
  /** It follows rows that arrive. */
  readonly rows?: AsyncIterable<unknown>;
  /** Those that arrive whole. */
  readonly fed?: readonly { readonly id?: string; readonly prompt: string }[];
  /** The requests that were sent. */
  sent?: number;
}

interface Purchase {
  readonly at: number;
  readonly out: string;
  /** The request: its prompt and picture. */
  readonly prompt: string;
  readonly gallery: string | undefined;
}

interface Sent {
  readonly prompt: string;
  readonly images: readonly string[];
}

interface ResultLine {
  readonly id: string;
  readonly jobId: string;
  readonly attempts: number;
  readonly request: { readonly input: Sent };
  readonly output: { readonly image_url?: string };
  readonly columns: Readonly<Record<string, string>>;
}

interface FailureLine extends Sent {
  readonly id: string;
  readonly gallery?: string;
  readonly error: { readonly code: string };
}

interface StartRules {
  /** Nothing disturbs it, and no cap is in force. */
  readonly isCalm: boolean;
  /** Another one begins at the same moment. */
  readonly isBeside: boolean;
  /** In US dollars. */
  readonly perDay: number | undefined;
}

interface Start {
  readonly target: Target;
  readonly options: RunBatchOptions;
  readonly stop: Subject<StopOrder>;
  readonly afterMs: number;
  readonly before: { readonly all: number; readonly ofValues: ReadonlyMap<string, number> };
  readonly delivered: readonly Delivered[];
  readonly cap: number | null | undefined;
  readonly byValue: { readonly gallery: number } | null | undefined;
}

/** A line of results.jsonl or failures.jsonl. */
interface Delivered {
  readonly id: string;
  readonly prompt?: string;
  readonly request?: { readonly input?: { readonly prompt: string } };
}

/** What a person knows of one of her folders. */
class Folder {
  readonly completed = new Set<string>();
  /** In US dollars. */
  cap = Infinity;
  capOfValue = Infinity;
  wasKilled = false;
  /** An earlier state was put back: its books are behind. */
  isBehind = false;
}

/**
 * A person with several runs of one manifest, of its failures and of what she rejects, under a cap for each day. Days pass between
 * her starts, and she moves, copies, backs up and restores the folders. She seldom agrees to buy again what was bought.
 */
class PersonOfManyRuns {
  readonly story: string[] = [];
  private readonly run = paperRun();
  private readonly manifest: EditedManifest;
  /** What she does more often than others: reject results, follow rows, start runs at the same moment. */
  private readonly habit: 'none' | 'rejects' | 'follows' | 'hurries';
  private readonly isMatrix: boolean;
  private readonly isCsv: boolean;
  private readonly pictures: PersonsPictures;
  private readonly axes: AxesFile;
  private readonly feed: PersonsFeed;
  /** Rows of `--repeat` are not compared with those of other runs: she has one run then. */
  private readonly isRepeated: boolean;
  private readonly repeat: number;
  private path = '';
  /** How often a manifest asked for each prompt, at most, and what she agreed to. */
  private readonly asked = new Map<string, number>();
  /** How often she has rejected a picture of each prompt: it is bought once more for each. */
  private readonly rejected = new Map<string, number>();
  private readonly rejectedJobs = new Set<string>();
  /** By prompt: the job that was rejected for it. Of all that are asked for in its place, one is bought. */
  private readonly insteadOf = new Map<string, string>();
  private readonly agreedInstead = new Map<string, number>();
  /** How far the clock of her machine is ahead, in ms. */
  private clockIsAhead = 0;
  /** When it was last set forward, in true time. */
  private clockSetAt = -Infinity;
  private readonly posts = new Map<string, number>();
  private readonly begunAt = new Map<string, number>();
  private readonly purchases: Purchase[] = [];
  private readonly folders = new Map<string, Folder>();
  private readonly backups: { readonly out: string; readonly files: Map<string, Buffer> }[] = [];
  private readonly redos: Target[] = [];
  private readonly held = new Set<string>();
  private booking: Promise<unknown> = Promise.resolve();
  /** A folder was copied or put back: it may be refused as a copy. */
  private hasCopies = false;
  /** Jobs that she has named for a row and taken back. */
  private readonly undone = new Set<string>();
  private hasAgreedToFeed = false;
  private hasStarted = false;
  private behaviours: readonly Behaviour[] = behaviours;
  private readonly problems: string[] = [];

  constructor(private readonly random: Random) {
    this.manifest = new EditedManifest(random, random() < 0.2);
    this.isMatrix = random() < 0.3;
    this.isCsv = random() < 0.6;
    this.isRepeated = random() < 0.15;
    this.repeat = this.isRepeated ? 2 : 1;
    this.habit = this.isRepeated ? 'none' : pick(['none', 'none', 'rejects', 'follows', 'hurries'], random);
    this.pictures = new PersonsPictures(random);
    this.axes = new AxesFile(random);
    this.feed = new PersonsFeed(random);
    this.run.service.picture = (url) => this.picture(url);
  }

  async live(): Promise<string[]> {
    for (let start = 1; start <= starts && this.problems.length === 0; start++) {
      const isLast = start === starts;
      this.editManifest(start === 1 || isLast ? 0 : Math.floor(this.random() * 3));
      this.behaviours = isLast ? ['complete'] : behaviours;
      if (start > 1) await this.passDays();
      if (start > 1 && !isLast) this.handleFolders();
      if (start > 1) await this.settleSome();
      if (start > 1 && this.random() < 0.1) await this.refetch();
      if (this.random() < 0.1) await this.rehearse();
      const target = isLast ? await this.main(first) : await this.anyTarget();
      const other = isLast ? undefined : await this.targetBeside(target);
      await this.startAll(other === undefined ? [target] : [target, other], isLast);
    }
    return this.problems;
  }

  private editManifest(count: number): void {
    this.story.push(...this.manifest.edit(count), ...this.pictures.edit());
    if (this.isMatrix) this.story.push(...this.axes.edit());
    const { isCsv } = this;
    const lines = this.manifest.lines.map((line) => ({ ...line, image: this.pictures.imageOf(line.prompt) }));
    this.path = `/job/manifest.${isCsv ? 'csv' : 'jsonl'}`;
    const rows = lines.map(({ id, prompt, image, ...more }) => ({
      ...edit(id, { ...more, images: [image], ...(!this.isMatrix && { prompt }) }),
      ...(this.isMatrix && { words: prompt, prompt: undefined }),
    }));
    const csv = asCsv(lines);
    this.run.disk.plant(
      this.path,
      isCsv
        ? this.isMatrix
          ? csv.replace(',prompt,', ',words,')
          : csv
        : rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
  }

  private async main(out: string): Promise<Target> {
    const asks: Asks = new Map();
    for (const { prompt, gallery } of this.manifest.lines)
      for (const words of this.isMatrix ? this.axes.promptsOf(prompt) : [prompt])
        addTo(asks, this.pictures.requestOf(words, this.pictures.imageOf(prompt)), gallery, this.repeat);
    this.allowAll(asks);
    const settings = {
      ...(this.isMatrix && (await this.axes.settings())),
      ...(this.repeat > 1 && { repeat: this.repeat }),
    };
    return { out, path: this.path, settings, asks };
  }

  private async anyTarget(): Promise<Target> {
    const { random } = this;
    const at = random() + (this.isRepeated ? 0.33 : 0);
    const isUsual = random() < 0.5 && this.habit;
    const other =
      isUsual === 'rejects'
        ? this.redo()
        : isUsual === 'follows'
          ? this.follow()
          : at < 0.12
            ? await this.main(second)
            : at < 0.27
              ? this.failuresOf(first)
              : at < 0.33
                ? this.resultsOf(first)
                : at < 0.43
                  ? this.redo()
                  : at < 0.48
                    ? this.follow()
                    : undefined;
    return other ?? this.main(first);
  }

  /** A start at the same moment: of the same run, or of the same rows in another folder. */
  private async targetBeside(target: Target): Promise<Target | undefined> {
    const { random } = this;
    const chance = this.habit === 'hurries' ? 0.5 : 0.05;
    if (random() > chance || target.rows !== undefined || this.isRepeated) return undefined;
    const other =
      random() < 0.3 ? target : target.out === first ? await this.main(second) : await this.main(first);
    return other;
  }

  private failuresOf(out: string): Target | undefined {
    const lines = this.failures(out);
    const name =
      this.random() < 0.3 && this.run.disk.peek(`${out}/failures.csv`) ? 'failures.csv' : 'failures.jsonl';
    // Paths of pictures that are uploaded lead from the manifest, and there are none beside this one.
    if (lines.length === 0 || this.pictures.host !== undefined) return undefined;
    const asks: Asks = new Map();
    for (const { prompt, images, gallery } of lines)
      addTo(asks, this.pictures.requestOf(prompt, [images].flat()[0] ?? ''), gallery, 1);
    // The pictures may be elsewhere by now.
    for (const [prompt, { count }] of asks) if (!this.asked.has(prompt)) this.allow(prompt, count);
    const target = `/job/${name.replace('.', '-')}.out`;
    return { out: target, path: `${out}/${name}`, settings: {}, asks };
  }

  private resultsOf(out: string): Target | undefined {
    const lines = this.results(out);
    if (lines.length === 0 || this.run.disk.peek(`${out}/results.csv`) === undefined) return undefined;
    const asks: Asks = new Map();
    for (const { request, columns } of lines)
      addTo(asks, this.requestIn(request.input), columns['gallery'], 1);
    return { out: ofResults, path: `${out}/results.csv`, settings: {}, asks };
  }

  /** A manifest of rejected rows, as the report saves it, or one that was saved before. */
  private redo(): Target | undefined {
    const { random } = this;
    if (this.redos.length > 0 && random() < 0.5) return this.asItIsNow(pick(this.redos, random));
    const saved = this.saveRedo();
    // She may reject the same results in another way before she starts the first of the two.
    if (random() < 0.5) this.saveRedo();
    return saved;
  }

  /** Its pictures may be elsewhere by now. */
  private asItIsNow(saved: Target): Target {
    const asks: Asks = new Map();
    for (const { prompt, images, gallery } of saved.lines ?? [])
      addTo(asks, this.pictures.requestOf(prompt, images[0] ?? ''), gallery, 1);
    for (const [prompt, { count }] of asks)
      if (!this.asked.has(prompt) && !this.rejected.has(prompt)) this.allow(prompt, count);
    return { ...saved, asks };
  }

  private saveRedo(): Target | undefined {
    const { random } = this;
    const rejected = this.results(first).filter(() => random() < 0.4);
    if (rejected.length === 0) return undefined;
    const path = `/job/redo-${this.redos.length + 1}.jsonl`;
    const asks: Asks = new Map();
    const jobs: string[] = [];
    const rows = rejected.map(({ id, jobId, attempts, request, columns }, index) => {
      const image = withoutHash(request.input.images[0] ?? '');
      const isChanged = random() < 0.5;
      const prompt = `${request.input.prompt}${isChanged ? ` as ${this.redos.length + 1}.${index}` : ''}`;
      const asked = this.pictures.requestOf(prompt, image);
      const { style, tone, repeat, ...own } = columns;
      const axes = { ...(style && { style }), ...(tone && { tone }), ...(repeat && { repeat }) };
      addTo(asks, asked, own['gallery'], 1);
      if (isChanged) {
        this.allow(asked, 1);
        this.insteadOf.set(prompt, jobId);
        jobs.push(jobId);
      } else {
        if (!this.rejectedJobs.has(jobId)) this.rejected.set(asked, (this.rejected.get(asked) ?? 0) + 1);
        this.rejectedJobs.add(jobId);
      }
      return {
        ...edit(id, { prompt, images: [image], ...own }),
        ...('resolution' in request.input && { resolution: request.input.resolution }),
        redo: jobId,
        'redo.attempt': attempts,
        ...(Object.keys(axes).length > 0 && { ...axes, 'redo.axes': axes }),
      };
    });
    this.run.disk.plant(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const lines = rows.map(({ prompt, images, ...row }) => ({
      prompt,
      images,
      gallery: 'gallery' in row ? String(row.gallery) : undefined,
    }));
    const target: Target = {
      out: first,
      path,
      settings: {},
      asks,
      jobs,
      lines,
      options: { changed: 'redo' },
    };
    this.redos.push(target);
    return target;
  }

  /** Rows that arrive while the run goes on. */
  private follow(): Target {
    this.story.push(...this.feed.edit());
    const asks: Asks = new Map();
    for (const prompt of this.feed.prompts) if (!asks.has(prompt)) addTo(asks, prompt, undefined, 1);
    this.allowAll(asks);
    const { rows, whole } = this.feed.feed(this.run.scheduler);
    this.story.push(`feeds ${whole.map(({ id, prompt }) => `${id}: ${prompt}`).join(', ')}`);
    return { out: ofFeed, path: 'stdin', settings: {}, asks, rows, fed: whole };
  }

  /** A request of a result, without the version of its picture. */
  private requestIn({ prompt, images }: Sent): string {
    return withoutVersion(requestName(prompt, images[0] ?? ''));
  }

  private behave(request: string, target: Target): Behaviour {
    const { scheduler } = this.run;
    const nth = (this.posts.get(request) ?? 0) + 1;
    this.posts.set(request, nth);
    const behaviour = pick(this.behaviours, this.random);
    if (neverBegun.has(behaviour)) return behaviour;
    this.begunAt.set(`job-${request}-${nth}`, scheduler.now());
    target.sent = (target.sent ?? 0) + 1;
    if (behaviour === 'fail') return behaviour;
    const prompt = withoutVersion(request);
    const galleries = [...(target.asks.get(prompt)?.galleries ?? [])];
    const gallery = galleries.length === 1 ? galleries[0] : undefined;
    this.purchases.push({ at: scheduler.now(), out: target.out, prompt, gallery });
    return behaviour;
  }

  /** The service of a start. It forgets a job after a day. */
  private transportOf(target: Target): Transport {
    const { service, scheduler } = this.run;
    return (request): Observable<WireReply> => {
      const id = request.method === 'GET' ? decodeURIComponent(request.url.split('/').at(-1) ?? '') : '';
      const begunAt = this.begunAt.get(id);
      if (begunAt !== undefined && scheduler.now() - begunAt > day)
        return of({ status: 404, headers: {}, body: '{"error":"job not found"}' });
      if (request.method === 'GET') return service.transport(request);
      const { input, ...body } = JSON.parse(request.body ?? '{}') as { readonly input: Sent };
      const row = requestName(input.prompt, input.images[0] ?? '');
      return defer(() => {
        service.behave = (name) => this.behave(name, target);
        return service.transport({ ...request, body: JSON.stringify({ ...body, input: { ...input, row } }) });
      });
    };
  }

  /** Addresses are valid for seven days. */
  private picture(url: string): number {
    const prompt = decodeURIComponent(url.split('/').at(-1) ?? '').replace(/\.png$/, '');
    const latest = this.purchases.findLast((purchase) => purchase.prompt === withoutVersion(prompt));
    if (latest !== undefined && this.run.scheduler.now() - latest.at > 7 * day) return 403;
    return this.random() < 0.15 ? 503 : 200;
  }

  /** The clock of her machine. */
  private get clock(): SchedulerLike {
    const { scheduler } = this.run;
    const ahead = this.clockIsAhead;
    return {
      now: () => scheduler.now() + ahead,
      schedule: (...planned: Parameters<SchedulerLike['schedule']>) => scheduler.schedule(...planned),
    };
  }

  private async passDays(): Promise<void> {
    const { random } = this;
    const { scheduler } = this.run;
    if (random() < 0.1) {
      const ms = pick([-hour, hour, -26 * hour, 26 * hour, -400 * day, 400 * day], random);
      this.clockIsAhead += ms;
      if (ms > 0) this.clockSetAt = scheduler.now();
      this.story.push(`the clock is ${this.clockIsAhead / hour} hours ahead`);
    }
    const ms = random() < 0.6 ? 0 : pick([hour, 5 * hour, 20 * hour, 25 * hour, 8 * day], random);
    if (ms === 0) return;
    this.story.push(`${ms / hour} hours pass`);
    await withTime(scheduler, new Promise<void>((resolve) => scheduler.schedule(() => resolve(), ms)));
  }

  private handleFolders(): void {
    const { random, run } = this;
    const { disk } = run;
    if (random() < 0.25) {
      const out = pick([first, first, second], random);
      const files = this.filesOf(out);
      if (files.size > 0) this.backups.push({ out, files });
      this.story.push(`backed up ${out}`);
    }
    if (random() > 0.15 || this.isRepeated) return;
    const what = pick(['restore', 'restore', 'move', 'back', 'copy'] as const, random);
    if (what === 'restore' && this.backups.length > 0) {
      const { out, files } = pick(this.backups, random);
      disk.removeFolder(out);
      for (const [path, content] of files) disk.plant(path, content);
      const folder = this.folder(out);
      folder.completed.clear();
      folder.isBehind = true;
      this.hasCopies = true;
      this.story.push(`restored ${out}`);
    }
    if (what === 'move' && this.filesOf(first).size > 0) this.move(first, away);
    if (what === 'back' && this.filesOf(away).size > 0) this.move(away, first);
    if (what === 'copy' && this.filesOf(first).size > 0) {
      disk.removeFolder(second);
      for (const [path, content] of this.filesOf(first)) disk.plant(path.replace(first, second), content);
      this.folders.set(second, Object.assign(new Folder(), { isBehind: true }));
      this.hasCopies = true;
      this.story.push(`copied ${first} to ${second}`);
    }
  }

  private move(from: string, to: string): void {
    const { disk } = this.run;
    disk.removeFolder(to);
    disk.moveFolder(from, to);
    // Its purchases are those of the run that is there.
    const moved = this.folder(from);
    this.folders.set(to, Object.assign(moved, { isBehind: true }));
    this.folders.set(from, new Folder());
    for (const [index, purchase] of this.purchases.entries())
      if (purchase.out === from || purchase.out === to)
        this.purchases[index] = { ...purchase, out: purchase.out === from ? to : 'gone' };
    this.story.push(`moved ${from} to ${to}`);
  }

  private filesOf(out: string): Map<string, Buffer> {
    const { disk } = this.run;
    const paths = disk.paths().filter((path) => path.startsWith(`${out}/`));
    return new Map(paths.map((path) => [path, Buffer.from(disk.peek(path) ?? '')]));
  }

  private async settleSome(): Promise<void> {
    const { random } = this;
    const out = pick([first, first, second, '/job/failures-jsonl.out', ofFeed], random);
    for (const { id, prompt, error } of this.failures(out)) {
      if (error.code !== 'unknown' || random() > 0.5) continue;
      const lost = [...this.begunAt.keys()].find(
        (job) =>
          ['-', '@'].some((next) => job.startsWith(`job-${prompt}${next}`)) &&
          (!this.isKnown(job) || this.undone.has(job)),
      );
      const isFound = lost !== undefined && random() < 0.4;
      await this.settle(
        out,
        id,
        isFound ? { jobId: lost } : lost !== undefined ? { paidUsd: usd } : { notSent: true },
      );
      if (lost !== undefined) this.undone.delete(lost);
      if (!isFound || random() > 0.2) continue;
      await this.settle(out, id, { undo: true });
      this.undone.add(lost);
    }
  }

  private async settle(out: string, id: string, settlement: Settlement): Promise<void> {
    this.story.push(`settled ${id} in ${out}: ${JSON.stringify(settlement)}`);
    const { run, clock } = this;
    const settling = settleRow(out, id, settlement, { disk: run.disk, scheduler: clock, hold: this.hold });
    await withTime(run.scheduler, settling).catch((fault: unknown) =>
      this.story.push(`not settled: ${(fault as Error).message}`),
    );
  }

  /** Whether a journal of hers has the job. */
  private isKnown(job: string): boolean {
    const { disk } = this.run;
    return disk
      .paths()
      .some(
        (path) =>
          path.endsWith('journal.jsonl') &&
          !path.startsWith(ofRehearsal) &&
          disk.peek(path)?.toString().includes(JSON.stringify(job)),
      );
  }

  private async refetch(): Promise<void> {
    const { disk, service } = this.run;
    if (disk.peek(`${first}/journal.jsonl`) === undefined) return;
    const parts = { disk, scheduler: this.clock, saveFrom: service.download, hold: this.hold };
    const makeThumbnail = () => Promise.resolve(undefined);
    const end = await this.run.follow(refetch(first, { ...parts, random: () => 0.5, makeThumbnail }));
    this.story.push(`refetch: exit ${end.exitCode}: ${end.reason}`);
    if (end.exitCode === 70) this.problems.push(end.reason);
  }

  private readonly hold = async (folder: string) => {
    const { held } = this;
    // A lock is on the file, whatever its name becomes.
    const tryLock = async (path: string, byte?: number) => {
      const { id = path } = (await this.run.disk.stat(path)) ?? {};
      const name = `${id} ${byte ?? 'all'}`;
      if (held.has(name)) return undefined;
      held.add(name);
      return { release: () => Promise.resolve(void held.delete(name)) };
    };
    return holdRun(folder, { disk: this.run.disk, tryLock, now: this.clock.now });
  };

  /** Against a service of its own, in a folder of its own: nothing is bought. */
  private async rehearse(): Promise<void> {
    const { random, run } = this;
    const isBegun = (out: string) => run.disk.peek(`${out}/journal.jsonl`) !== undefined;
    const out = isBegun(first) && random() < 0.3 ? first : ofRehearsal;
    const service = paperService(run.scheduler);
    service.behave = () => pick(['complete', 'complete', 'fail'] as const, random);
    const { path, settings } = await this.main(out);
    const options = run.options({
      out,
      transport: service.transport,
      saveFrom: service.download,
      hold: this.hold,
      manifest: { path, ...settings, resolveImage: basedImage('https://paper.test/pictures/') },
      identity: { baseUrl: 'https://paper.test', lbBaseUrl: 'https://paper.test', local: true },
      scheduler: this.clock,
    });
    const { exitCode } = await run.follow(runBatch(options));
    this.story.push(`rehearsed in ${out}: exit ${exitCode}`);
    if (out === first && service.posts.length > 0) this.problems.push('a rehearsal went on with a paid run');
    if (!isBegun(ofRehearsal) || random() > 0.3) return;
    await this.startAll([await this.main(ofRehearsal)], false);
    if (this.spent(ofRehearsal) > 0) this.problems.push('a paid run went on with a rehearsal');
  }

  /** Starts one run, or two at the same moment. */
  private async startAll(targets: readonly Target[], isLast: boolean): Promise<void> {
    const { random, run } = this;
    const { disk } = run;
    const disturbed = pick(['not', 'not', 'graceful', 'now', 'killed', 'killed'] as const, random);
    const isBeside = targets.length > 1;
    // What she rejects, she mostly buys again in peace and whatever it costs.
    const isCalm = isLast || (targets.some(({ jobs }) => jobs !== undefined) && random() < 0.7);
    const disturbance = isCalm ? 'not' : disturbed;
    const perDay = !isCalm && random() < 0.3 ? usd * (1 + Math.floor(random() * 6)) : undefined;
    const starts = targets.map((target) => this.prepare({ ...target }, { isCalm, isBeside, perDay }));
    const { length: countBefore } = this.purchases;
    const isFirst = !this.hasStarted;
    this.hasStarted = true;
    let eventsLeft = 1 + Math.floor(random() ** 2 * 40);
    const play = async ({ options, stop, afterMs }: Start) => {
      await this.wait(afterMs);
      return collected(runBatch(options), (event) => {
        if (disturbance === 'killed' && --eventsLeft === 0) {
          run.disk = disk.handOver();
          this.held.clear();
        }
        const isOnItsWay =
          event.type === 'row' && event.event.type === pick(['submitting', 'accepted'], random);
        if ((disturbance === 'graceful' || disturbance === 'now') && isOnItsWay) stop.next(disturbance);
      });
    };
    const ends = await withTime(run.scheduler, Promise.all(starts.map(play)));
    this.held.clear();
    const bought = this.purchases.slice(countBefore).map(({ prompt, out }) => `${prompt} in ${out}`);
    if (bought.length > 0) this.story.push(`bought ${bought.join(', ')}`);
    if (perDay !== undefined) this.checkDay(perDay, countBefore);
    const played = starts.map((start, index) => ({ start, end: disk.crashed ? undefined : ends[index] }));
    for (const { start, end } of played) {
      this.story.push(end === undefined ? 'killed' : `exit ${end.exitCode}: ${end.reason}`);
      this.checkCaps(start, end);
      if (end !== undefined) this.checkAhead(start, end, isFirst && !isBeside);
      if (end !== undefined && disturbance === 'not') this.checkDelivered(start, end);
      this.check(start.target, end, isLast);
    }
    for (const out of new Set(targets.map((target) => target.out)))
      this.checkBooks(
        out,
        played.flatMap(({ start, end }) => (start.target.out === out && end !== undefined ? [end] : [])),
      );
  }

  private prepare(target: Target, { isCalm, isBeside, perDay }: StartRules): Start {
    const { random, run, clock } = this;
    const folder = this.folder(target.out);
    const stop = new Subject<StopOrder>();
    const isLive = target.rows !== undefined;
    const isCapped = !isCalm && !isBeside;
    const cap = isCalm
      ? null
      : isCapped && random() < 0.15
        ? usd * (1 + Math.floor(random() * 6))
        : undefined;
    const byValue = isCalm
      ? null
      : isCapped && !isLive && random() < 0.15
        ? { gallery: usd * (1 + Math.floor(random() * 3)) }
        : undefined;
    if (cap !== undefined) folder.cap = cap ?? Infinity;
    if (byValue !== undefined) folder.capOfValue = byValue?.gallery ?? Infinity;
    const mode = pick(['sync', 'async'] as const, random);
    const chosen = !isLive && random() < 0.3 ? pick(retries, random) : undefined;
    const isRepair = folder.isBehind && random() < 0.5;
    const settings = { mode, ...this.pictures.settings, ...target.settings };
    const delivered: Delivered[] = [];
    const { host } = this.pictures;
    const options = run.options({
      out: target.out,
      manifest: isLive ? { rows: target.rows, ...settings } : { path: target.path, ...settings },
      transport: this.transportOf(target),
      hold: this.hold,
      scheduler: clock,
      dayLedger: () => this.dayLedger(target.out, perDay),
      ...(host && { pictureHost: host }),
      concurrency: pick([1, 3], random),
      timeoutMs: pick([5_000, 60_000], random),
      stop,
      ...(chosen && { retry: chosen }),
      ...(!isLive && this.selection(isCalm)),
      ...(cap !== undefined && { maxCostUsd: cap }),
      ...(byValue !== undefined && { maxCostByUsd: byValue }),
      confirm: async (_, ahead) => {
        if (isBeside && random() < 0.5) await this.wait(pick([10, 300, 5 * minute], random));
        const { bought, outdated, unread } = ahead;
        const asked = Object.entries({ bought, outdated, unread }).filter(([, rows]) => rows !== undefined);
        if (asked.length > 0) this.story.push(`is asked about ${asked.map(([what]) => what).join(', ')}`);
        return asked.length === 0 || this.agrees(target);
      },
      deliver: (line) => void delivered.push(line as unknown as Delivered),
      ...(random() < 0.6 && { add: true }),
      ...(isRepair && { repair: true }),
      ...target.options,
    });
    this.story.push(
      `starts ${target.path} in ${target.out}${chosen ? ` --retry ${chosen.join(',')}` : ''}${isRepair ? ' --repair' : ''}` +
        `${options.changed === 'redo' ? ' --changed redo' : ''}${perDay ? ` per day ${perDay}` : ''}${cap ? ` cap ${cap}` : ''}` +
        `${byValue ? ` by gallery ${byValue.gallery}` : ''} repeat ${this.repeat}${isBeside ? ' beside another' : ''}`,
    );
    if (chosen?.some((word) => word !== 'failed')) this.agreeTo(target, `--retry ${chosen.join(',')}`);
    const before = { all: this.spent(target.out), ofValues: this.spentByGallery(target.out) };
    const afterMs = isBeside ? pick([0, 0, 1, 25, 300, 3_000], random) : 0;
    return { target, options, stop, afterMs, before, delivered, cap, byValue };
  }

  /** The rows that a start takes. */
  private selection(isCalm: boolean): Partial<RunBatchOptions> {
    const { random } = this;
    return {
      ...(random() < 0.3 && { changed: 'redo' }),
      ...(!isCalm && random() < 0.1 && { only: [pick(this.manifest.lines, random).id] }),
      ...(!isCalm && random() < 0.1 && { halt: { count: 1 + Math.floor(random() * 3) } }),
      ...(!isCalm && random() < 0.2 && { limit: 1 + Math.floor(random() * 2) }),
    };
  }

  private wait(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => this.run.scheduler.schedule(() => resolve(), ms));
  }

  /** What was bought before her clock was set forward may count for less than a day. */
  private checkDay(perDay: number, countBefore: number): void {
    const spent = (count: number): number => {
      const from = Math.max(this.run.scheduler.now() - day + 5 * minute, this.clockSetAt);
      return this.purchases.slice(0, count).filter(({ at }) => at > from).length * price;
    };
    const [before, after] = [spent(countBefore), spent(this.purchases.length)];
    if (after > before && after > Math.round(perDay * 1e6))
      this.problems.push(`${after} in a day, and the cap is $${perDay}`);
  }

  private checkCaps({ target, before, cap, byValue }: Start, end: PaperEnd | undefined): void {
    const folder = this.folder(target.out);
    if (!folder.wasKilled && !folder.isBehind) {
      if (this.spent(target.out) > Math.max(Math.round(folder.cap * 1e6), before.all))
        this.problems.push(`${this.spent(target.out)} in ${target.out} under a cap of $${folder.cap}`);
      for (const [value, spent] of this.spentByGallery(target.out))
        if (spent > Math.max(Math.round(folder.capOfValue * 1e6), before.ofValues.get(value) ?? 0))
          this.problems.push(`${spent} for "${value}" in ${target.out} under a cap of $${folder.capOfValue}`);
    }
    if (end === undefined || [2, 74, 75].includes(end.exitCode)) {
      if (cap !== undefined) folder.cap = Infinity;
      if (byValue !== undefined) folder.capOfValue = Infinity;
    }
    folder.wasKilled = end === undefined;
  }

  /** A start sends the rows that it has priced, and a question about earlier purchases is only asked after one. */
  private checkAhead({ target }: Start, { events }: PaperEnd, isFirst: boolean): void {
    const ahead = events.flatMap((event) => (event.type === 'checked' ? [event.ahead] : []))[0];
    if (ahead === undefined || target.rows !== undefined) return;
    if ((target.sent ?? 0) > ahead.toSend + ahead.doubled)
      this.problems.push(
        `${target.sent} requests were sent, and ${ahead.toSend + ahead.doubled} were priced`,
      );
    if (isFirst && (ahead.bought ?? ahead.unread) !== undefined)
      this.problems.push('there is a question about earlier purchases, and there were none');
  }

  /** Each row that came whole is delivered. */
  private checkDelivered({ target, delivered }: Start, { exitCode }: PaperEnd): void {
    if (![0, 1, 6].includes(exitCode)) return;
    const there = delivered.map(({ id, prompt, request }) => `${id} ${prompt ?? request?.input?.prompt}`);
    for (const { id, prompt } of target.fed ?? [])
      if (!there.some((line) => (id === undefined ? line.endsWith(` ${prompt}`) : line.startsWith(`${id} `))))
        this.problems.push(`"${prompt}" arrived and was not delivered`);
  }

  /** Every start books there; only some have a cap. */
  private async dayLedger(out: string, capUsd = 1e9) {
    const { disk } = this.run;
    await disk.mkdir('/state');
    return openDayLedger({
      disk,
      path: '/state/day.jsonl',
      capUsd,
      run: out,
      exclusively: (work) => {
        const booked = this.booking.then(work);
        this.booking = booked.catch(() => undefined);
        return booked;
      },
      now: this.clock.now,
    });
  }

  private agrees(target: Target): boolean {
    const isAgreed = this.random() < 0.25;
    if (isAgreed) this.agreeTo(target, 'what was bought before');
    else this.story.push('does not agree');
    return isAgreed;
  }

  /** Each row of the manifest may be bought once more. */
  private agreeTo({ asks, jobs = [], rows }: Target, what: string): void {
    this.story.push(`agreed to ${what}`);
    for (const [prompt, { count }] of asks)
      this.allow(prompt, this.bought(prompt) - (this.rejected.get(prompt) ?? 0) + count);
    for (const job of jobs) this.agreedInstead.set(job, (this.agreedInstead.get(job) ?? 0) + 1);
    if (rows !== undefined) this.hasAgreedToFeed = true;
  }

  private allowAll(asks: Asks): void {
    for (const [prompt, { count }] of asks) this.allow(prompt, count);
  }

  private allow(prompt: string, times: number): void {
    this.asked.set(prompt, Math.max(times, this.asked.get(prompt) ?? 0));
  }

  private bought(prompt: string): number {
    const { bill } = this.run.service;
    return (
      [...bill].reduce((sum, [name, paid]) => sum + (withoutVersion(name) === prompt ? paid : 0), 0) / price
    );
  }

  private check(target: Target, end: PaperEnd | undefined, isLast: boolean): void {
    const folder = this.folder(target.out);
    for (const prompt of new Set(this.purchases.map((purchase) => purchase.prompt))) {
      const asked = (this.asked.get(prompt) ?? 0) + (this.rejected.get(prompt) ?? 0);
      const count = this.bought(prompt);
      if (count > asked)
        this.problems.push(`"${prompt}" was bought ${count} times, and asked for ${asked} times`);
    }
    if (!this.hasCopies) this.checkInstead();
    if (!this.hasAgreedToFeed)
      for (const [id, prompts] of this.feed.promptsOf) {
        const count = [...prompts].reduce((sum, prompt) => sum + this.bought(prompt), 0);
        if (count > 1)
          this.problems.push(`"${id}" arrived with several requests, of which ${count} were bought`);
      }
    if (end === undefined || [2, 75].includes(end.exitCode)) return;
    if (end.exitCode === 70 || (end.exitCode === 74 && !this.hasCopies)) this.problems.push(end.reason);
    if (end.exitCode === 74) return;
    const results = this.results(target.out);
    for (const { id, request, output } of results)
      if (!decodeURI(output.image_url ?? '').endsWith(`/${nameOf(request.input)}.png`))
        this.problems.push(`"${id}" has the answer to another request`);
    const there = new Set(results.map(({ id }) => id));
    for (const id of folder.completed)
      if (!there.has(id)) this.problems.push(`the result of "${id}" is gone`);
    for (const id of there) folder.completed.add(id);
    if (there.size < results.length) this.problems.push('a row has two results');
    if (!isLast || folder.isBehind) return;
    const ended = this.results(target.out).length + this.failures(target.out).length;
    const each = this.isMatrix ? this.axes.promptsOf('').length : 1;
    const asked = this.manifest.lines.length * this.repeat * each;
    if (ended < asked) this.problems.push(`${ended} rows have ended of ${asked}`);
  }

  /** The bill of a run stands in the books of its last start. */
  private checkBooks(out: string, ends: readonly PaperEnd[]): void {
    const books = ends.flatMap(({ exitCode, summary }) => {
      if ([2, 74, 75].includes(exitCode)) return [];
      const { reported, estimated, unknown, reserved = 0, unsaved = 0 } = summary.cost;
      return [Math.round((reported + estimated + unknown + reserved + unsaved) * 1e6)];
    });
    if (books.length > 0 && !this.folder(out).isBehind && Math.max(...books) < this.spent(out))
      this.problems.push(`the books have ${books.join(' and ')}, and the bill is ${this.spent(out)}`);
  }

  private spent(out: string): number {
    return this.purchases.filter((purchase) => purchase.out === out).length * price;
  }

  /** Of all that was asked for in the place of a result, one is bought. */
  private checkInstead(): void {
    const counts = new Map<string, number>();
    for (const { prompt, out } of this.purchases) {
      const job = out === first ? this.insteadOf.get(prompt.replace(/@.*/, '')) : undefined;
      if (job !== undefined) counts.set(job, (counts.get(job) ?? 0) + 1);
    }
    for (const [job, count] of counts)
      if (count > 1 + (this.agreedInstead.get(job) ?? 0))
        this.problems.push(`"${job}" was replaced ${count} times without a question`);
  }

  private spentByGallery(out: string): Map<string, number> {
    const spent = new Map<string, number>();
    for (const purchase of this.purchases)
      if (purchase.out === out && purchase.gallery !== undefined)
        spent.set(purchase.gallery, (spent.get(purchase.gallery) ?? 0) + price);
    return spent;
  }

  private folder(out: string): Folder {
    const folder = this.folders.get(out) ?? new Folder();
    this.folders.set(out, folder);
    return folder;
  }

  private results(out: string): ResultLine[] {
    return this.linesOf<ResultLine>(`${out}/results.jsonl`);
  }

  private failures(out: string): FailureLine[] {
    return this.linesOf<FailureLine>(`${out}/failures.jsonl`);
  }

  private linesOf<T>(path: string): T[] {
    const text = this.run.disk.peek(path)?.toString() ?? '';
    // The last line of an id counts while a run goes on.
    const end = text.lastIndexOf('\n') + 1;
    return text
      .slice(0, end)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as T);
  }
}

function nameOf({ prompt, images }: Sent): string {
  return requestName(prompt, images[0] ?? '');
}

/** A picture of a result, as the manifest had it. */
function withoutHash(image: string): string {
  return image.startsWith('s3:') ? decodeURI(image.slice(image.indexOf('#') + 1)) : image;
}

function addTo(asks: Asks, prompt: string, gallery: string | undefined, times: number): void {
  const found = asks.get(prompt) ?? { count: 0, galleries: new Set<string>() };
  found.count += times;
  found.galleries.add(gallery ?? '');
  asks.set(prompt, found);
}

/**
 * Plays persons with several runs each. Returns what went wrong, by their seeds.
 *
 * @param watch called with each story in which nothing went wrong
 */
export async function playManyRuns(
  firstSeed: number,
  count: number,
  watch: (story: readonly string[]) => void = () => undefined,
): Promise<Record<string, string[]>> {
  const broken: Record<string, string[]> = {};
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const person = new PersonOfManyRuns(seeded(seed));
    const problems = await person.live();
    if (problems.length > 0) broken[`seed ${seed}`] = [...person.story, ...problems];
    else watch(person.story);
  }
  return broken;
}
