import {
  concatMap,
  defer,
  delay,
  map,
  NEVER,
  of,
  throwError,
  timer,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import type { Download } from '../../src/transport/got/download.js';
import { TransportError } from '../../src/transport/transport-error.js';
import type { Transport, WireReply, WireRequest } from '../../src/transport/transport.js';
import { onePixel } from './other-server.js';

/** How a row is treated by the service on paper. */
export type PaperBehaviour =
  | ('complete' | 'fail' | 'cancel' | 'time-out' | 'reject' | 'lose-answer' | 'hang' | 'forget' | 'inline')
  | ('busy' | 'unreachable' | 'insecure' | 'never' | 'lose-request')
  | { readonly status: number; readonly body: unknown }
  | { readonly output: unknown };

/** A service without a wire: a transport and a download over the same books. Time goes by the scheduler it is given. */
export interface PaperService {
  readonly transport: Transport;
  readonly download: Download;
  readonly executions: Map<string, number>;
  /** In millionths of a dollar, by row. */
  readonly bill: Map<string, number>;
  readonly posts: string[];
  readonly gets: string[];
  behave: (row: string, nth: number) => PaperBehaviour;
  /** Lets a job that hangs come to its end. */
  revive(jobId: string): void;
  /** What a picture's URL answers. */
  picture: (url: string, nth: number) => number;
}

const baseUrl = 'https://paper.test';
const price = 87_500;
const latencyMs = 20;
const unpaid: ReadonlySet<unknown> = new Set(['fail', 'cancel', 'time-out']);

/** Nothing at all for `undefined`. */
function textOf(body: unknown): string {
  return body === undefined ? '' : JSON.stringify(body);
}

export function paperService(scheduler: SchedulerLike): PaperService {
  const jobs = new Map<string, { row: string; behaviour: PaperBehaviour; kind: string; polls: number }>();
  const posts = new Map<string, number>();
  const fetches = new Map<string, number>();
  const service: PaperService = {
    transport: (request) => defer(() => exchange(request)),
    download: (request, onChunk) => defer(() => fetch(request.url, onChunk)),
    executions: new Map(),
    bill: new Map(),
    posts: [],
    gets: [],
    behave: () => 'complete',
    revive: (jobId) => {
      const job = jobs.get(jobId);
      if (job !== undefined) jobs.set(jobId, { ...job, behaviour: 'complete' });
    },
    picture: () => 200,
  };
  const execute = (row: string, kind: string, behaviour: PaperBehaviour): void => {
    service.executions.set(row, (service.executions.get(row) ?? 0) + 1);
    if (kind === 'image-edit' && !unpaid.has(behaviour))
      service.bill.set(row, (service.bill.get(row) ?? 0) + price);
  };

  function exchange(request: WireRequest): Observable<WireReply> {
    const path = request.url.slice(baseUrl.length);
    const [, , endpoint = '', verb = '', id = ''] = path.split('/');
    if (!path.startsWith('/v2/')) return route(path.slice(1));
    if (request.method === 'GET') return answered(status(decodeURIComponent(id)));
    const { input } = JSON.parse(request.body ?? '{}') as { input: Record<string, unknown> };
    const row = (input['row'] ?? input['prompt']) as string;
    const nth = (posts.get(row) ?? 0) + 1;
    posts.set(row, nth);
    const behaviour = service.behave(row, nth);
    if (behaviour === 'unreachable') return fault('connect', 'ECONNREFUSED', 'no');
    if (behaviour === 'insecure') return fault('tls', 'CERT_HAS_EXPIRED', 'no');
    if (behaviour === 'never') return NEVER;
    if (behaviour === 'lose-request') return fault('reset', 'ECONNRESET', 'maybe');
    if (typeof behaviour === 'object' && 'status' in behaviour)
      return answered([behaviour.status, behaviour.body]);
    if (behaviour === 'busy') return answered([429, { error: 'busy' }]);
    service.posts.push(row);
    const jobId = `job-${row}-${nth}`;
    if (behaviour === 'reject') return answered([400, { id: jobId, status: 'FAILED', error: 'bad image' }]);
    jobs.set(jobId, { row, behaviour, kind: endpoint, polls: 0 });
    execute(row, endpoint, behaviour);
    if (behaviour === 'lose-answer') return fault('reset', 'ECONNRESET', 'maybe');
    const isDone = verb === 'runsync' && behaviour !== 'hang' && behaviour !== 'forget';
    return answered([200, isDone ? final(jobId) : { id: jobId, status: 'IN_QUEUE' }]);
  }

  function route(row: string): Observable<WireReply> {
    const nth = (posts.get(row) ?? 0) + 1;
    posts.set(row, nth);
    const behaviour = service.behave(row, nth);
    if (typeof behaviour === 'object' && 'status' in behaviour)
      return answered([behaviour.status, behaviour.body]);
    if (behaviour === 'unreachable') return fault('connect', 'ECONNREFUSED', 'no');
    if (behaviour === 'lose-answer') return fault('reset', 'ECONNRESET', 'maybe');
    execute(row, 'route', behaviour);
    return answered([200, { said: row }]);
  }

  function status(jobId: string): [number, unknown] {
    service.gets.push(jobId);
    const job = jobs.get(jobId);
    if (job === undefined || job.behaviour === 'forget') return [404, { error: 'job not found' }];
    job.polls++;
    const isOpen = job.behaviour === 'hang' || job.polls < 2;
    return [200, isOpen ? { id: jobId, status: 'IN_PROGRESS' } : final(jobId)];
  }

  function final(id: string): unknown {
    const { row = '', behaviour, kind } = jobs.get(id) ?? {};
    if (behaviour === 'fail') return { id, status: 'FAILED', error: 'out of memory' };
    if (behaviour === 'cancel') return { id, status: 'CANCELLED' };
    if (behaviour === 'time-out') return { id, status: 'TIMED_OUT' };
    if (typeof behaviour === 'object' && 'output' in behaviour)
      return { id, status: 'COMPLETED', output: behaviour.output };
    const times = { delayTime: 3, executionTime: 20 };
    if (kind !== 'image-edit') return { id, status: 'COMPLETED', ...times, output: { echo: row } };
    const output =
      behaviour === 'inline'
        ? { image: `data:image/png;base64,${onePixel.toString('base64')}`, cost: price / 1e6 }
        : { image_url: `${baseUrl}/pictures/${row}.png`, cost: price / 1e6 };
    return { id, status: 'COMPLETED', ...times, output };
  }

  function fetch(
    url: string,
    onChunk: Parameters<Download>[1],
  ): Observable<{ status: number; headers: Record<string, string>; bytes: number }> {
    const nth = (fetches.get(url) ?? 0) + 1;
    fetches.set(url, nth);
    const status = service.picture(url, nth);
    const bytes = status === 200 ? onePixel.length : 0;
    const handed = defer(async () => {
      if (status === 200) await onChunk(onePixel);
    });
    return timer(latencyMs, scheduler).pipe(
      concatMap(() => handed),
      map(() => ({ status, headers: { 'content-length': String(bytes) }, bytes })),
    );
  }

  const answered = ([status, body]: [number, unknown]): Observable<WireReply> =>
    of({ status, headers: {}, body: typeof body === 'string' ? body : textOf(body) }).pipe(
      delay(latencyMs, scheduler),
    );
  const fault = (
    phase: 'connect' | 'reset' | 'tls',
    code: string,
    sent: 'no' | 'maybe',
  ): Observable<never> => {
    const error = new TransportError(phase, code, sent, false, `POST: ${code}`);
    return timer(latencyMs, scheduler).pipe(concatMap(() => throwError(() => error)));
  };
  return service;
}
