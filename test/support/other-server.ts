import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A service that knows nothing of millrace or its emulator: it speaks the contract by hand and keeps a bill of its own.
 * A row is known by `input.row` (jobs), by the prompt (edits) or by the path (routes).
 */
export interface OtherServer {
  readonly baseUrl: string;
  readonly lbBaseUrl: string;
  readonly key: string;
  /** Executions a row, by what the worker ran. */
  readonly executions: Map<string, number>;
  /** In millionths of a dollar. */
  billed: number;
  /** Every request, in order. */
  readonly requests: { method: string; path: string; auth: string | undefined; body: string }[];
  /** The most rows that were in flight at once: from their POST until their end was told. */
  mostInFlight: number;
  /** How a row is treated; may be changed while it runs. */
  behave: (row: string, call: Call) => Behaviour;
  /** Jobs by id, as their status is told. */
  readonly jobs: Map<string, Job>;
  close(): Promise<void>;
}

export interface Call {
  readonly path: string;
  /** Counts the POSTs of the row, from 1. */
  readonly nth: number;
  readonly input: Record<string, unknown>;
}

export type Behaviour =
  | 'complete'
  /** The job ends as FAILED. */
  | 'fail'
  /** HTTP 400 with a FAILED body. */
  | 'reject'
  /** Accepted and run; the connection is reset before the answer. */
  | 'lose-answer'
  /** /runsync answers IN_PROGRESS with an id. */
  | 'give-up-waiting'
  /** Never ends. */
  | 'hang'
  /** The status is forgotten. */
  | 'forget'
  /** The service does not answer the POST for now; see `release`. */
  | { readonly hold: Promise<void> }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  /** Completed with this output. */
  | { readonly output: unknown };

export interface Job {
  readonly row: string;
  polls: number;
  readonly behaviour: Behaviour;
  readonly sync: boolean;
  readonly endpoint: string;
  readonly input: Record<string, unknown>;
}

/** The smallest PNG there is. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const prices: Record<string, number> = { '1k': 87_500, '2k': 130_000, '4k': 175_000 };

function priceOf({ resolution }: Record<string, unknown>): number {
  return prices[typeof resolution === 'string' ? resolution : '1k'] ?? 0;
}

export async function startOtherServer(
  settings: { polls?: number; pictures?: (path: string) => { status: number; body: Buffer } } = {},
): Promise<OtherServer> {
  const { polls = 1, pictures = () => ({ status: 200, body: onePixel }) } = settings;
  const posts = new Map<string, number>();
  const inFlight = new Set<string>();
  let ids = 0;
  const service: OtherServer = {
    baseUrl: '',
    lbBaseUrl: '',
    key: 'canary-key-5f1e0c7a9b',
    executions: new Map(),
    billed: 0,
    requests: [],
    mostInFlight: 0,
    behave: () => 'complete',
    jobs: new Map(),
    close: () => closeServer(server),
  };
  const enter = (row: string): void => {
    inFlight.add(row);
    service.mostInFlight = Math.max(service.mostInFlight, inFlight.size);
  };
  const execute = (row: string, cost: number): void => {
    service.executions.set(row, (service.executions.get(row) ?? 0) + 1);
    service.billed += cost;
  };

  const server = createServer((request, response) => {
    void readBody(request).then((body) => answer(request, response, body));
  });

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const path = request.url ?? '/';
    const auth = request.headers.authorization;
    service.requests.push({ method: request.method ?? '', path, auth, body });
    if (path.startsWith('/pictures/')) {
      const picture = pictures(path);
      response.writeHead(picture.status, {
        'content-type': 'image/png',
        'content-length': picture.body.length,
      });
      response.end(picture.body);
      return;
    }
    if (auth !== `Bearer ${service.key}`)
      return send(response, 401, { error: `no such key: ${auth ?? 'none'}` });
    const [, , endpoint = '', verb = '', id = ''] = path.split('/');
    if (!path.startsWith('/v2/')) return route(path, request, response, body);
    if (verb === 'status') return status(response, decodeURIComponent(id));
    const { input } = JSON.parse(body) as { input: Record<string, unknown> };
    submit(response, { endpoint, verb, input, path, auth });
  }

  function submit(
    response: ServerResponse,
    {
      endpoint,
      verb,
      input,
      path,
      auth,
    }: { endpoint: string; verb: string; input: Record<string, unknown>; path: string; auth: string },
  ): void {
    const row = (input['row'] ?? input['prompt']) as string;
    const nth = (posts.get(row) ?? 0) + 1;
    posts.set(row, nth);
    const behaviour = service.behave(row, { path, nth, input });
    if (typeof behaviour === 'object' && 'status' in behaviour)
      return send(
        response,
        behaviour.status,
        behaviour.body ?? { error: `refused ${auth}` },
        behaviour.headers,
      );
    enter(row);
    const jobId = `job-${++ids}-${endpoint}`;
    const job: Job = { row, polls: 0, behaviour, sync: verb === 'runsync', endpoint, input };
    service.jobs.set(jobId, job);
    if (behaviour === 'reject') {
      inFlight.delete(row);
      return send(response, 400, { id: jobId, status: 'FAILED', error: 'Failed to download image from URL' });
    }
    const cost = endpoint.includes('edit') && behaviour !== 'fail' ? priceOf(input) : 0;
    if (behaviour === 'lose-answer') {
      execute(row, cost);
      inFlight.delete(row);
      response.destroy();
      return;
    }
    const finish = (): void => {
      execute(row, cost);
      inFlight.delete(row);
      send(response, 200, final(jobId, job, cost));
    };
    if (typeof behaviour === 'object' && 'hold' in behaviour) return void behaviour.hold.then(finish);
    if (
      verb === 'runsync' &&
      behaviour !== 'give-up-waiting' &&
      behaviour !== 'hang' &&
      behaviour !== 'forget'
    )
      return finish();
    execute(row, cost);
    send(response, 200, { id: jobId, status: verb === 'run' ? 'IN_QUEUE' : 'IN_PROGRESS' });
  }

  function status(response: ServerResponse, jobId: string): void {
    const job = service.jobs.get(jobId);
    if (job === undefined || job.behaviour === 'forget')
      return send(response, 404, { error: 'job not found' });
    job.polls++;
    if (job.behaviour === 'hang' || job.polls < polls)
      return send(response, 200, { id: jobId, status: 'IN_PROGRESS', delayTime: 3 });
    inFlight.delete(job.row);
    const cost = job.endpoint.includes('edit') ? priceOf(job.input) : 0;
    send(response, 200, final(jobId, job, cost));
  }

  function final(id: string, job: Job, cost: number): unknown {
    if (job.behaviour === 'fail')
      return {
        id,
        status: 'FAILED',
        error: JSON.stringify({ error_type: 'RuntimeError', error_message: 'out of memory' }),
      };
    const times = { delayTime: 3, executionTime: 20 };
    if (typeof job.behaviour === 'object' && 'output' in job.behaviour)
      return { id, status: 'COMPLETED', ...times, output: job.behaviour.output };
    if (!job.endpoint.includes('edit'))
      return { id, status: 'COMPLETED', ...times, output: { echo: job.input } };
    const url = `${service.baseUrl}/pictures/${encodeURIComponent(job.row)}.png`;
    return { id, status: 'COMPLETED', ...times, output: { image_url: url, cost: cost / 1e6 } };
  }

  function route(path: string, request: IncomingMessage, response: ServerResponse, body: string): void {
    const row = path.slice(1);
    const nth = (posts.get(row) ?? 0) + 1;
    posts.set(row, nth);
    const behaviour = service.behave(row, { path, nth, input: {} });
    if (typeof behaviour === 'object' && 'status' in behaviour)
      return send(
        response,
        behaviour.status,
        behaviour.body ?? { error: 'no', detail: 'none' },
        behaviour.headers,
      );
    if (behaviour === 'lose-answer') {
      execute(row, 0);
      response.destroy();
      return;
    }
    execute(row, 0);
    send(response, 200, { method: request.method, said: body === '' ? null : (JSON.parse(body) as unknown) });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  return Object.assign(service, { baseUrl, lbBaseUrl: baseUrl });
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
