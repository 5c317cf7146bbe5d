/** The context of a queue function. */
export interface JobContext {
  id: string;
  /** 1; higher after /retry. */
  attempt: number;
  /** Aborts when the job is cancelled, times out, or the emulator closes. */
  signal: AbortSignal;
  /** Waits `ms` of the emulator's clock. */
  sleep(ms: number): Promise<void>;
  /** Shows a partial output while the job is IN_PROGRESS. */
  progress(output: unknown): void;
  /** The emulator's random numbers, in [0, 1): the same for the same seed. */
  random(): number;
}

/** The context of a route. */
export interface RouteContext {
  method: string;
  path: string;
  /** The values of `:name` parts of the path. */
  params: Record<string, string>;
  /** The query string, without `?`. */
  query: Record<string, string>;
  /** Aborts when the emulator closes. */
  signal: AbortSignal;
  /** Waits `ms` of the emulator's clock. */
  sleep(ms: number): Promise<void>;
  /** The emulator's random numbers, in [0, 1): the same for the same seed. */
  random(): number;
}

/**
 * A queue function. Its result is the job's output. An error makes the job FAILED with its message; a `status` of
 * 400–599 on the error is the HTTP code of /runsync. The values of an async generator are the chunks of /stream, and
 * together the output unless the generator returns one.
 */
export type QueueFunction = (input: Record<string, unknown>, job: JobContext) => unknown;

/**
 * A route of the load-balanced endpoint. Its result is the answer. An error is answered with `{error, detail}`, with
 * the error's `status` (default 500) and `detail`. A GET route has no body.
 */
export type RouteFunction = (body: Record<string, unknown> | undefined, request: RouteContext) => unknown;

/** The exports of a functions module. */
export interface UserFunctions {
  /** By endpoint id. */
  queue?: Record<string, QueueFunction>;
  /** By method and path: `'POST /stats'`, `'GET /words/:word'`. */
  routes?: Record<string, RouteFunction>;
}

/** The default functions: the queue endpoint and the routes below. */
export const defaultFunctions = {
  queue: { echo },
  routes: { 'POST /echo': echo, 'GET /info': info },
} as const satisfies UserFunctions;

/** Returns `{echo: input}`; `sleepMs` waits first, `fail` fails with that message. */
async function echo(
  input: Record<string, unknown> | undefined,
  context: Pick<JobContext, 'sleep'>,
): Promise<{ echo: unknown }> {
  if (typeof input?.sleepMs === 'number' && input.sleepMs > 0) await context.sleep(input.sleepMs);
  if (input?.fail !== undefined && input.fail !== null && input.fail !== false)
    throw new Error(typeof input.fail === 'string' ? input.fail : JSON.stringify(input.fail));
  return { echo: input };
}

function info(_body: unknown, request: RouteContext): { service: string; method: string; query: object } {
  return { service: 'millrace emulator', method: request.method, query: request.query };
}
