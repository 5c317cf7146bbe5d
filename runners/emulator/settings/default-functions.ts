import type { JobContext, RouteContext, UserFunctions } from './user-functions.js';

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
