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
