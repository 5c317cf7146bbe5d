import { createHash } from 'node:crypto';
import { Observable } from 'rxjs';
import type { Download } from '../../src/transport/download.js';
import type { Transport, WireReply, WireRequest } from '../../src/transport/transport.js';
import { TransportError } from '../../src/transport/transport-error.js';
import { arriving, type Life } from './life.js';
import type { SimulatedRow } from './rows.js';
import type { VirtualClock } from './virtual-clock.js';

/** What may go wrong, each with its chance a request. */
export interface Weather {
  /** Before a request reaches the service: no connection, or it is refused. */
  readonly refusals: number;
  /** After it was worked on, or nobody knows: resets, cut and unreadable replies, 5xx. */
  readonly doubts: number;
  /** The same on what is free to repeat. */
  readonly reads: number;
  /** /runsync gives up waiting. */
  readonly early: number;
  /** A download breaks. */
  readonly downloads: number;
  /** How long a result can be asked for once it is there, in ms. */
  readonly retentionMs: number;
}

export const fairWeather: Weather = {
  ...{ refusals: 0, doubts: 0, reads: 0, early: 0.2, downloads: 0 },
  retentionMs: 30 * 60_000,
};

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
  /** What reached the process: `refusal`: it was provably not taken; `answer`: its id, or its end; `doubt`: neither. */
  told?: 'refusal' | 'answer' | 'doubt';
}

interface Job {
  readonly id: string;
  readonly row: SimulatedRow;
  /** What was sent; the output has it again, so that each answer can be held against its row. */
  readonly echo: unknown;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly retentionMs: number;
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Each row has a picture of its own. */
export function pictureOf(id: string): Buffer {
  return Buffer.concat([png, createHash('sha256').update(id).digest()]);
}

/** The service: it lives on whatever becomes of its callers, and keeps its own bill. */
export class Service {
  /** Every POST that was ever sent, in order. */
  readonly posts: Post[] = [];
  /** In millionths of a dollar, by row. */
  readonly bill = new Map<string, number>();
  weather: Weather = fairWeather;
  /** By endpoint and id: ids of two endpoints may be the same. */
  private readonly jobs = new Map<string, Job>();
  private readonly rows: ReadonlyMap<string, SimulatedRow>;

  constructor(
    private readonly clock: VirtualClock,
    rows: readonly SimulatedRow[],
    private readonly random: () => number,
  ) {
    this.rows = new Map(rows.map((row) => [row.id, row]));
  }

  transportFor(life: Life): Transport {
    return (request) => arriving(life, this.exchange(life, request));
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
        say: (ms, status, body, headers = {}) =>
          after(ms, () => {
            subscriber.next({
              status,
              headers,
              body: typeof body === 'string' ? body : JSON.stringify(body),
            });
            subscriber.complete();
          }),
        break: (ms, error) => after(ms, () => subscriber.error(error)),
      };
      if (request.method === 'POST') this.post(life, request, reply);
      else this.read(request, reply);
      // Whoever hangs up gets no answer; what was sent has been sent.
      return () => timers.forEach((takeBack) => takeBack());
    });
  }

  private post(life: Life, request: WireRequest, reply: Reply): void {
    const { row, ...sent } = addressOf(request);
    const post: Post = { row: this.rowOf(row).id, life, accepted: false, ...sent };
    this.posts.push(post);
    const chance = this.random();
    const { refusals, doubts } = this.weather;
    if (chance < refusals) return this.refuse(post, reply);
    if (chance < refusals + doubts) return this.leaveInDoubt(post, request, reply);
    this.work(post, reply);
  }

  private refuse(post: Post, reply: Reply): void {
    post.told = 'refusal';
    const kind = this.pick(['connect', 'lookup', 'too-many', 'too-many', 'busy'] as const);
    const ms = this.latency();
    if (kind === 'connect') return reply.break(ms, fault('connect', 'ECONNREFUSED', 'no'));
    if (kind === 'lookup') return reply.break(ms, fault('lookup', 'EAI_AGAIN', 'no'));
    if (kind === 'busy') return reply.say(ms, 503, { error: 'busy' }, { 'retry-after': '1' });
    const wait = this.pick([
      undefined,
      '0',
      '1',
      '7',
      '-3',
      'soon',
      new Date(this.clock.now + 3_000).toUTCString(),
    ]);
    reply.say(ms, 429, { error: 'too many' }, wait === undefined ? {} : { 'retry-after': wait });
  }

  private leaveInDoubt(post: Post, request: WireRequest, reply: Reply): void {
    post.told = 'doubt';
    if (this.random() < 0.7) this.buy(post);
    const ms = this.latency();
    const row = this.rowOf(post.row);
    const kinds = ['reset', 'cut', 'timeout', 'html', 'empty', 'null', '502', '500'] as const;
    switch (this.pick(row.kind === 'route' ? kinds.filter((kind) => kind !== 'null') : kinds)) {
      case 'reset':
        return reply.break(ms, fault('reset', 'ECONNRESET', 'maybe'));
      case 'cut':
        return reply.break(ms, fault('read', 'ECONNRESET', 'maybe'));
      case 'timeout':
        return reply.break(request.timeouts.responseMs, fault('response', 'ETIMEDOUT', 'maybe', true));
      case 'html':
        return reply.say(ms, 200, '<html>welcome</html>');
      case 'empty':
        return reply.say(ms, 200, '');
      case 'null':
        return reply.say(ms, 200, 'null');
      case '502':
        return reply.say(ms, 502, '<html>bad gateway</html>');
      case '500':
        return reply.say(ms, 500, '');
    }
  }

  private work(post: Post, reply: Reply): void {
    post.told = 'answer';
    const row = this.rowOf(post.row);
    const ms = this.latency();
    if (row.kind === 'route') return this.callRoute(post, row, reply);
    if (row.end === 'rejected') {
      const { id } = this.register(post, this.clock.now, this.clock.now);
      const error = `Failed to download the image of ${row.id}`;
      return reply.say(ms, 400, { id, status: 'FAILED', error });
    }
    const job = this.buy(post);
    if (post.verb === 'run') return reply.say(ms, 200, { id: job.id, status: 'IN_QUEUE' });
    if (this.random() < this.weather.early)
      return reply.say(ms, 200, { id: job.id, status: this.pick(['IN_QUEUE', 'IN_PROGRESS']) });
    const status = row.end === 'failed' && this.random() < 0.3 ? 500 : 200;
    reply.say(job.endsAt - this.clock.now + 1, status, endOf(job));
  }

  private callRoute(post: Post, row: SimulatedRow, reply: Reply): void {
    const ms = this.latency() + this.random() * 400;
    if (row.end === 'no-route') return reply.say(ms, 404, { error: `no such route: ${row.id}` });
    if (row.end === 'failed') return reply.say(ms, 500, { error: `${row.id} broke`, detail: 'badly' });
    this.buy(post);
    reply.say(ms, 200, { echo: post.sent, ...(row.tellsCost && { cost: row.cost / 1e6 }) });
  }

  /** From here on it costs money, whoever hears of it. */
  private buy(post: Post): Job {
    post.accepted = true;
    const row = this.rowOf(post.row);
    this.bill.set(row.id, (this.bill.get(row.id) ?? 0) + row.cost);
    const startsAt = this.clock.now + this.random() * 800;
    return this.register(post, startsAt, startsAt + 50 + this.random() ** 3 * 20_000);
  }

  private register(post: Post, startsAt: number, endsAt: number): Job {
    const row = this.rowOf(post.row);
    const id = `job-${this.posts.length}-${row.id}`;
    const job = { id, row, echo: post.sent, startsAt, endsAt, retentionMs: this.weather.retentionMs };
    this.jobs.set(`${post.endpoint}/${id}`, job);
    return job;
  }

  private read(request: WireRequest, reply: Reply): void {
    const ms = this.latency();
    const path = new URL(request.url).pathname;
    const isPoll = path.startsWith('/v2/');
    const [, , endpoint, , id = ''] = path.split('/');
    const job = this.jobs.get(`${endpoint}/${decodeURIComponent(id)}`);
    if (this.random() < this.weather.reads) return this.spoil(request, reply, ms);
    if (!isPoll) return reply.say(ms, 200, { echo: path });
    if (job === undefined || this.clock.now > job.endsAt + job.retentionMs)
      return reply.say(ms, 404, { error: 'job not found' });
    if (this.clock.now >= job.endsAt) return reply.say(ms, 200, endOf(job));
    const status =
      this.clock.now < job.startsAt ? 'IN_QUEUE' : this.pick(['IN_PROGRESS', 'IN_PROGRESS', 'RUNNING']);
    reply.say(ms, 200, { id: job.id, status });
  }

  private spoil(request: WireRequest, reply: Reply, ms: number): void {
    switch (this.pick(['reset', 'cut', 'connect', 'html', 'other', '500', '429', 'timeout'] as const)) {
      case 'reset':
        return reply.break(ms, fault('reset', 'ECONNRESET', 'maybe'));
      case 'cut':
        return reply.break(ms, fault('read', 'ECONNRESET', 'maybe'));
      case 'connect':
        return reply.break(ms, fault('connect', 'ECONNREFUSED', 'no'));
      case 'html':
        return reply.say(ms, 200, '<html>');
      case 'other':
        return reply.say(ms, 200, '{"id":"another-one"');
      case '500':
        return reply.say(ms, 500, '');
      case '429':
        return reply.say(ms, 429, '', { 'retry-after': '1' });
      case 'timeout':
        return reply.break(request.timeouts.responseMs, fault('response', 'ETIMEDOUT', 'maybe', true));
    }
  }

  /** Pictures are fetched from the same place. */
  downloadFor(life: Life): Download {
    return (request, onChunk) =>
      arriving(
        life,
        new Observable((subscriber) => {
          if (!life.step()) return undefined;
          return this.clock.in(this.latency(), () => {
            void this.sendPicture(request.url, onChunk).then(
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

  private async sendPicture(url: string, onChunk: (bytes: Uint8Array) => void | Promise<void>) {
    const bytes = pictureOf(new URL(url).pathname.slice(1, -4));
    const headers = { 'content-length': String(bytes.length) };
    if (this.random() >= this.weather.downloads) {
      const half = bytes.length >> 1;
      await onChunk(bytes.subarray(0, half));
      await onChunk(bytes.subarray(half));
      return { status: 200, headers, bytes: bytes.length };
    }
    switch (this.pick(['500', '403', 'reset', 'cut', 'html'] as const)) {
      case '500':
        return { status: 500, headers: {}, bytes: 0 };
      case '403':
        return { status: 403, headers: {}, bytes: 0 };
      case 'html':
        await onChunk(Buffer.from('<html>no picture here</html>'));
        return { status: 200, headers: {}, bytes: 28 };
      case 'cut':
        await onChunk(bytes.subarray(0, 60));
        return { status: 200, headers, bytes: 60 };
      case 'reset':
        await onChunk(bytes.subarray(0, 30));
        throw fault('reset', 'ECONNRESET', 'maybe');
    }
  }

  private rowOf(id: string): SimulatedRow {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error(`a request for a row that does not exist: "${id}"`);
    return row;
  }

  private latency(): number {
    return 1 + this.random() * 120;
  }

  private pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }
}

interface Reply {
  say(ms: number, status: number, body: unknown, headers?: Record<string, string>): void;
  break(ms: number, error: TransportError): void;
}

function endOf({ id, row, echo, startsAt, endsAt }: Job): unknown {
  if (row.end === 'failed') return { id, status: 'FAILED', error: `out of memory: ${row.id}` };
  const times = { delayTime: 20, executionTime: Math.round(endsAt - startsAt) };
  const cost = row.tellsCost ? { cost: row.cost / 1e6 } : {};
  const picture = row.base64
    ? { image: pictureOf(row.id).toString('base64') }
    : { image_url: `http://pictures.test/${row.id}.png` };
  const output = row.kind === 'edit' ? { echo, ...picture, ...cost } : { echo, ...cost };
  return { id, status: 'COMPLETED', ...times, output };
}

function fault(
  phase: TransportError['phase'],
  code: string,
  sent: 'no' | 'maybe',
  timedOut = false,
): TransportError {
  return new TransportError(phase, code, sent, timedOut, `${code} in virtual time`);
}

/** Whose request this is, and what it sends. */
function addressOf(request: WireRequest): Pick<Post, 'row' | 'endpoint' | 'verb' | 'sent'> {
  const path = new URL(request.url).pathname;
  const body = JSON.parse(request.body ?? '{}') as {
    input?: { row?: string; prompt?: string };
    row?: string;
  };
  if (!path.startsWith('/v2/')) return { row: body.row ?? '', endpoint: path, verb: 'route', sent: body };
  const [, , endpoint = '', verb] = path.split('/');
  const { input } = body;
  const row = input?.row ?? input?.prompt ?? '';
  return { row, endpoint, verb: verb === 'run' ? 'run' : 'runsync', sent: input };
}
