/** What a queue function is given beside its input. */
export interface JobContext {
  id: string;
  /** 1, and more after /retry. */
  attempt: number;
  /** Aborts when the job is cancelled, times out, or the emulator closes. */
  signal: AbortSignal;
  /** Waits `ms` of the emulator's clock. */
  sleep(ms: number): Promise<void>;
  /** Shows a partial output while the job is IN_PROGRESS. */
  progress(output: unknown): void;
  /** The emulator's chance, in [0, 1): the same for the same seed. */
  random(): number;
}

/** What a route is given beside its body. */
export interface RouteContext {
  method: string;
  path: string;
  /** What `:name` in the path stood for. */
  params: Record<string, string>;
  /** What stands behind `?`. */
  query: Record<string, string>;
  /** Aborts when the emulator closes. */
  signal: AbortSignal;
  /** Waits `ms` of the emulator's clock. */
  sleep(ms: number): Promise<void>;
  /** The emulator's chance, in [0, 1): the same for the same seed. */
  random(): number;
}

/**
 * A queue function. What it returns is the job's output; what it throws makes the job FAILED with that message, and a
 * `status` of 400–599 on the error is the HTTP code under which /runsync says so. An async generator's values are the
 * chunks of /stream, and together the output unless it returns one.
 */
export type QueueFunction = (input: Record<string, unknown>, job: JobContext) => unknown;

/**
 * A route of the load-balanced endpoint. What it returns is the answer; what it throws is an answer `{error, detail}`
 * with the error's `status` (500 without one) and `detail`. A GET route has no body.
 */
export type RouteFunction = (body: Record<string, unknown> | undefined, request: RouteContext) => unknown;

/** What a functions module exports. */
export interface UserFunctions {
  /** By endpoint id. */
  queue?: Record<string, QueueFunction>;
  /** By method and path: `'POST /stats'`, `'GET /words/:word'`. */
  routes?: Record<string, RouteFunction>;
}

/** What is offered without a functions module: the queue endpoint and the routes named below. */
export const defaultFunctions = {
  queue: { echo },
  routes: { 'POST /echo': echo, 'GET /info': info },
} as const satisfies UserFunctions;

/** Answers `{echo: input}`; `sleepMs` waits first, `fail` fails with that message. */
async function echo(
  input: Record<string, unknown> | undefined,
  context: Pick<JobContext, 'sleep'>,
): Promise<{ echo: unknown }> {
  if (typeof input?.sleepMs === 'number' && input.sleepMs > 0) await context.sleep(input.sleepMs);
  if (input?.fail !== undefined && input.fail !== null && input.fail !== false)
    throw new Error(textOf(input.fail));
  return { echo: input };
}

function info(_body: unknown, request: RouteContext): { service: string; method: string; query: object } {
  return { service: 'millrace emulator', method: request.method, query: request.query };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
