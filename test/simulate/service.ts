import { Observable } from 'rxjs';
import type { Download } from '../../src/transport/got/download.js';
import type { Transport, WireReply, WireRequest } from '../../src/transport/transport.js';
import {
  type Exchange,
  fault,
  leaveUnknown,
  pickFrom,
  refuse,
  type Reply,
  spoil,
  tooMany,
} from './broken-replies.js';
import { CallbackLine, type CallWeather } from './callbacks.js';
import { endOf, type Job } from './jobs.js';
import { arriving, type Life } from './life.js';
import { sendPicture } from './pictures.js';
import type { SimulatedRow } from './rows.js';
import { absurdCost, nestedText, type StrangeReply } from './strange-replies.js';
import type { VirtualClock } from './virtual-clock.js';
import { fairWeather, type Weather } from './weather.js';

/** A POST that reached the service, or may have. */
export interface Post {
  readonly row: string;
  /** The process that sent it. */
  readonly life: Life;
  /** `image-edit`, `grind`, or the path of a route. */
  readonly endpoint: string;
  readonly verb: 'run' | 'runsync' | 'route';
  /** The job's input, or the route's body. */
  readonly sent: unknown;
  /** It was worked on. */
  accepted: boolean;
  /** The address that it named for a callback. */
  readonly webhook: string | undefined;
  /** Its address was called with its own job. */
  wasCalled?: boolean;
  /** When such a call was answered with 2xx. */
  confirmedAt?: number;
  /** What reached the process: `refusal`: it was provably not taken; `answer`: its id, or its end; `doubt`: neither. */
  answered?: 'refusal' | 'answer' | 'doubt';
}

/** The service: it lives on whatever becomes of its callers, and keeps its own bill. */
export class Service {
  /** Every POST that was ever sent, in order. */
  readonly posts: Post[] = [];
  /** In millionths of a dollar, by row. */
  readonly bill = new Map<string, number>();
  weather: Weather = fairWeather;
  /** Where it calls back. */
  readonly line: CallbackLine;
  /** Requests that should never have been sent, and calls that should never have been believed. */
  readonly broken: string[] = [];
  /** By endpoint and id: ids of two endpoints may be the same. */
  private readonly jobs = new Map<string, Job>();
  private readonly rows: Map<string, SimulatedRow>;

  /** @param chances Chance of the strange replies alone, so that a seed's other faults stay what they were. */
  constructor(
    private readonly clock: VirtualClock,
    rows: readonly SimulatedRow[],
    private readonly random: () => number,
    private readonly chances: () => number,
  ) {
    this.rows = new Map(rows.map((row) => [row.id, row]));
    this.line = new CallbackLine(clock, chances);
  }

  addRow(row: SimulatedRow): void {
    this.rows.set(row.id, row);
  }

  transportFor(life: Life): Transport {
    return (request) => arriving(life, this.exchange(life, request));
  }

  /** What any process heard so far may have been lost with its journal. */
  cutOffAll(): void {
    for (const { life } of this.posts) life.wasCutOff = true;
  }

  /** A poll of this job after its time was answered with 404. */
  hasForgotten(endpoint: string, jobId: string): boolean {
    return this.jobs.get(`${endpoint}/${jobId}`)?.forgotten === true;
  }

  /** The row that this job was run for. */
  rowOfJob(endpoint: string, jobId: string): string | undefined {
    return this.jobs.get(`${endpoint}/${jobId}`)?.row.id;
  }

  private exchange(life: Life, request: WireRequest): Observable<WireReply> {
    return new Observable((subscriber) => {
      if (!life.step()) return undefined;
      const timers: (() => void)[] = [];
      const after = (ms: number, work: () => void): void => void timers.push(this.clock.in(ms, work));
      const reply: Reply = {
        send: (ms, status, body, headers = {}) =>
          after(ms, () => {
            const text = typeof body === 'string' ? body : JSON.stringify(body);
            if (request.method === 'POST') life.learnJob(request.url, text);
            subscriber.next({ status, headers, body: text });
            subscriber.complete();
          }),
        break: (ms, error) => after(ms, () => subscriber.error(error)),
      };
      const { clock, random } = this;
      const exchange = { request, reply, clock, random, latency: () => this.latency() };
      if (request.method === 'POST') this.post(life, exchange);
      else this.read(life, exchange);
      // Whoever hangs up gets no answer; what was sent has been sent.
      return () => timers.forEach((takeBack) => takeBack());
    });
  }

  private post(life: Life, exchange: Exchange): void {
    const { row, ...sent } = addressOf(exchange.request);
    if (!life.pricedRows.has(row)) this.broken.push(`"${row}" was sent, and the start had not priced it`);
    const post: Post = { row: this.rowOf(row).id, life, accepted: false, ...sent };
    this.posts.push(post);
    const isRoute = post.verb === 'route';
    if (this.isIll(life, post.endpoint)) return this.postToIll(post, exchange);
    if (this.isStrange('noise')) {
      post.answered = 'refusal';
      return tooMany({ ...exchange, random: this.chances });
    }
    const chance = this.random();
    const { refusals, unknowns } = this.weather;
    if (chance < refusals) {
      post.answered = 'refusal';
      return refuse(exchange);
    }
    if (chance < refusals + unknowns) {
      post.answered = 'doubt';
      if (this.random() < 0.7) this.buy(post);
      return leaveUnknown(exchange, isRoute);
    }
    if (!isRoute && this.answersAsAnother(post, exchange.reply)) return;
    this.work(post, exchange.reply);
  }

  private postToIll(post: Post, exchange: Exchange): void {
    const how = this.weather.illness?.how;
    post.answered = how === '500' ? 'doubt' : 'refusal';
    if (how === '500' && this.chances() < 0.3) this.buy(post);
    this.answerAsIll(exchange);
  }

  private answerAsIll({ reply, latency }: Exchange): void {
    const how = this.weather.illness?.how;
    if (how === 'connect') return reply.break(latency(), fault('connect', 'ECONNREFUSED', 'no'));
    reply.send(latency(), how === '429' ? 429 : 500, '');
  }

  private isIll(life: Life, endpoint: string): boolean {
    const { illness } = this.weather;
    const ageMs = this.clock.now - life.bornAt;
    return illness?.endpoint === endpoint && ageMs >= illness.fromMs && ageMs < illness.toMs;
  }

  /** The reply has the id of a job that this run knows as another row's; true when it was given so. */
  private answersAsAnother(post: Post, reply: Reply): boolean {
    const isStray = this.isStrange('stray');
    if (!isStray && !this.isStrange('repeated-id')) return false;
    const others = this.othersOf(post);
    if (others.length === 0) return false;
    const other = pickFrom(others, this.chances);
    post.answered = 'doubt';
    const own = this.chances() < 0.7 ? this.buy(post, 'nameless') : undefined;
    const ms = this.latency();
    if (post.verb === 'run') reply.send(ms, 200, { id: other.id, status: 'IN_QUEUE' });
    else if (isStray || own === undefined) reply.send(ms, 200, this.lastReplyOf(other));
    else reply.send(ms, 200, { ...endOf(own), id: other.id });
    return true;
  }

  /** Jobs of the endpoint that the process knows to be other rows'. */
  private othersOf({ endpoint, row, life }: Post): Job[] {
    return [...this.jobs].flatMap(([key, job]) =>
      key.startsWith(`${endpoint}/`) && job.row.id !== row && life.knownJobs.has(key) ? [job] : [],
    );
  }

  private work(post: Post, reply: Reply): void {
    post.answered = 'answer';
    const row = this.rowOf(post.row);
    const ms = this.latency();
    if (row.kind === 'route') return this.callRoute(post, row, reply);
    if (row.end === 'rejected') {
      const { id } = this.register(post, this.clock.now, this.clock.now);
      const error = `Failed to download the image of ${row.id}`;
      return reply.send(ms, 400, { id, status: 'FAILED', error });
    }
    const job = this.buy(post);
    const isLast = post.webhook !== undefined && this.isCalled('first');
    const afterMs = isLast ? job.endsAt - this.clock.now + 300 : ms;
    if (post.verb === 'run') return reply.send(afterMs, 200, { id: job.id, status: 'IN_QUEUE' });
    if (this.random() < this.weather.early)
      return reply.send(ms, 200, { id: job.id, status: pickFrom(['IN_QUEUE', 'IN_PROGRESS'], this.random) });
    const status = row.end === 'failed' && this.random() < 0.3 ? 500 : 200;
    reply.send(job.endsAt - this.clock.now + 1, status, this.lastReplyOf(job));
  }

  private callRoute(post: Post, row: SimulatedRow, reply: Reply): void {
    const ms = this.latency() + this.random() * 400;
    if (row.end === 'no-route') return reply.send(ms, 404, { error: `no such route: ${row.id}` });
    if (row.end === 'failed') return reply.send(ms, 500, { error: `${row.id} broke`, detail: 'badly' });
    this.buy(post);
    const body = { echo: post.sent, ...(row.reportsCost && { cost: this.costOf(row) }) };
    reply.send(ms, 200, this.isStrange('deep') ? nestedText(body, this.levels()) : body);
  }

  private lastReplyOf(job: Job): unknown {
    const reply = endOf(job, this.costOf(job.row));
    const isDeep = job.row.kind === 'job' && reply.status === 'COMPLETED' && this.isStrange('deep');
    return isDeep ? nestedText(reply, this.levels()) : reply;
  }

  private costOf({ cost }: SimulatedRow): number {
    return this.isStrange('absurd-cost') ? absurdCost(cost, this.chances) : cost / 1e6;
  }

  private levels(): number {
    return 1_100 + Math.floor(this.chances() * 3_900);
  }

  /** From here on it costs money, whoever hears of it. A `nameless` job has no id that anybody could ask for. */
  private buy(post: Post, nameless?: 'nameless'): Job {
    post.accepted = true;
    const row = this.rowOf(post.row);
    this.bill.set(row.id, (this.bill.get(row.id) ?? 0) + row.cost);
    const startsAt = this.clock.now + this.random() * 800;
    const job = this.register(post, startsAt, startsAt + 50 + this.random() ** 3 * 20_000, nameless);
    if (nameless === undefined && post.webhook !== undefined) this.callBack(post, job, post.webhook);
    return job;
  }

  private callBack(post: Post, job: Job, address: string): void {
    if (this.isCalled('forged')) this.forge(address);
    if (this.weather.calls === undefined || this.isCalled('never')) return;
    const lateMs = this.isCalled('late') ? this.chances() * 60_000 : 0;
    const times = this.isCalled('twice') ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const afterMs = job.endsAt - this.clock.now + 1 + lateMs + time * this.chances() * 5_000;
      this.clock.in(afterMs, () => this.tryCall(post, job, address, 3));
    }
  }

  /** A wrong call names a job that every later process knows: of two rows in doubt nobody can tell whose it is. */
  private tryCall(post: Post, job: Job, address: string, tries: number): void {
    const other = this.isCalled('wrong')
      ? this.othersOf(post).find(({ endsAt, wasPolled }) => wasPolled && endsAt < job.endsAt)
      : undefined;
    if (other === undefined) post.wasCalled = true;
    const reply = { ...endOf(job, this.costOf(job.row)), ...(other && { id: other.id }) };
    this.line.call(address, JSON.stringify(reply), (status = 503) => {
      const isTaken = status < 300;
      if (isTaken && other === undefined) post.confirmedAt ??= this.clock.now;
      if (!isTaken && tries > 1) this.clock.in(10_000, () => this.tryCall(post, job, address, tries - 1));
    });
  }

  private forge(address: string): void {
    const place = Math.floor(this.chances() * 40) + 1;
    const end = address.at(-place) === 'A' ? 'B' : 'A';
    const forged = address.slice(0, -place) + end + address.slice(address.length - place + 1);
    const body = JSON.stringify({ id: 'forged', status: 'COMPLETED', output: { forged: true } });
    this.clock.in(this.chances() * 10_000, () =>
      this.line.call(forged, body, (status = 503) => {
        if (status < 300) this.broken.push(`a forged call was answered with ${status}`);
      }),
    );
  }

  private isCalled(kind: keyof CallWeather): boolean {
    const chance = this.weather.calls?.[kind] ?? 0;
    return chance > 0 && this.chances() < chance;
  }

  private register(post: Post, startsAt: number, endsAt: number, nameless?: 'nameless'): Job {
    const row = this.rowOf(post.row);
    const id = this.idFor(post);
    const hiddenUntil = this.isStrange('lag') ? this.clock.now + this.chances() * 40_000 : 0;
    const { retentionMs } = this.weather;
    const isYet = { forgotten: false, wasPolled: false };
    const job = { id, row, echo: post.sent, startsAt, endsAt, retentionMs, hiddenUntil, ...isYet };
    if (nameless === undefined) this.jobs.set(`${post.endpoint}/${id}`, job);
    return job;
  }

  private idFor({ endpoint, row }: Post): string {
    const id = `job-${this.posts.length}-${row}`;
    if (!this.isStrange('shared-id')) return id;
    const free = [...this.jobs].filter(
      ([key, job]) => !key.startsWith(`${endpoint}/`) && !this.jobs.has(`${endpoint}/${job.id}`),
    );
    return free.length === 0 ? id : pickFrom(free, this.chances)[1].id;
  }

  private read(life: Life, exchange: Exchange): void {
    const { request, reply } = exchange;
    const ms = this.latency();
    const path = new URL(request.url).pathname;
    const isPoll = path.startsWith('/v2/');
    const [, , endpoint = '', , id = ''] = path.split('/');
    const job = this.jobs.get(`${endpoint}/${decodeURIComponent(id)}`);
    if (job !== undefined) job.wasPolled = true;
    if (isPoll && this.isIll(life, endpoint)) return this.answerAsIll(exchange);
    if (this.isStrange('noise')) return tooMany({ ...exchange, random: this.chances });
    if (this.random() < this.weather.reads) return spoil({ ...exchange, latency: () => ms });
    if (!isPoll) return reply.send(ms, 200, { echo: path });
    if (job !== undefined && this.isHidden(job, reply, ms)) return;
    if (job !== undefined && this.isStrange('stray')) return this.answerAnother(job, reply, ms);
    if (job === undefined || this.clock.now > job.endsAt + job.retentionMs) {
      if (job !== undefined) job.forgotten = true;
      return reply.send(ms, 404, { error: 'job not found' });
    }
    if (this.clock.now >= job.endsAt) return reply.send(ms, 200, this.lastReplyOf(job));
    const states = ['IN_PROGRESS', 'IN_PROGRESS', 'RUNNING'];
    const status = this.clock.now < job.startsAt ? 'IN_QUEUE' : pickFrom(states, this.random);
    reply.send(ms, 200, { id: job.id, status });
  }

  /** A replica that lags does not know the job yet, or a proxy's page is in the way. */
  private isHidden({ hiddenUntil }: Job, reply: Reply, ms: number): boolean {
    const isBehind = this.clock.now < hiddenUntil;
    if (!isBehind && !(this.isStrange('lag') && this.chances() < 0.2)) return false;
    const isPage = !isBehind || this.chances() < 0.3;
    reply.send(ms, 404, isPage ? '<html>404 Not Found</html>' : { error: 'job not found' });
    return true;
  }

  private answerAnother(job: Job, reply: Reply, ms: number): void {
    const others = [...this.jobs.values()].filter(({ id }) => id !== job.id);
    if (others.length === 0) return reply.send(ms, 200, '');
    reply.send(ms, 200, endOf(pickFrom(others, this.chances)));
  }

  private isStrange(kind: StrangeReply): boolean {
    const chance = this.weather.strange?.[kind];
    return chance !== undefined && this.chances() < chance;
  }

  /** Pictures are fetched from the same place. */
  downloadFor(life: Life): Download {
    return (request, onChunk) =>
      arriving(
        life,
        new Observable((subscriber) => {
          if (!life.step()) return undefined;
          return this.clock.in(this.latency(), () => {
            const luck = { chance: this.weather.downloads, random: this.random };
            void sendPicture(request.url, onChunk, luck).then(
              (downloaded) => {
                subscriber.next(downloaded);
                subscriber.complete();
              },
              (error: unknown) => subscriber.error(error),
            );
          });
        }),
      );
  }

  private rowOf(id: string): SimulatedRow {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error(`a request for a row that does not exist: "${id}"`);
    return row;
  }

  private latency(): number {
    return 1 + this.random() * 120;
  }
}

/** Whose request this is, and what it sends. */
function addressOf(request: WireRequest): Pick<Post, 'row' | 'endpoint' | 'verb' | 'sent' | 'webhook'> {
  const path = new URL(request.url).pathname;
  const body = JSON.parse(request.body ?? '{}') as {
    input?: { row?: string; prompt?: string };
    row?: string;
    webhook?: string;
  };
  const { webhook } = body;
  if (!path.startsWith('/v2/'))
    return { row: body.row ?? '', endpoint: path, verb: 'route', sent: body, webhook };
  const [, , endpoint = '', verb] = path.split('/');
  const { input } = body;
  const row = input?.row ?? input?.prompt ?? '';
  return { row, endpoint, verb: verb === 'run' ? 'run' : 'runsync', sent: input, webhook };
}
