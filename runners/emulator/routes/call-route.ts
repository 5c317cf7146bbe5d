import type { RouteFunction } from '../functions/user-functions.js';
import type { Call, Service } from '../service.js';
import { jsonText } from '../http/json-text.js';
import { sleep } from '../sleep.js';

/** Runs the function of a route, no faster than the latency drawn for it. Never rejects. */
export async function callRoute(
  { clock, latency, random, closing }: Service,
  route: RouteFunction,
  call: Call,
  body: Record<string, unknown> | undefined,
): Promise<{ status: number; text: string }> {
  const until = clock.now() + latency.sample(random);
  const context = {
    method: call.req.method,
    path: call.req.path,
    params: call.req.param(),
    query: call.req.query(),
    signal: closing,
    random,
    sleep: (ms: number) => sleep(clock, ms, closing),
  };
  try {
    const result: unknown = await route(body, context);
    const left = until - clock.now();
    if (left > 0) await sleep(clock, left, closing);
    return { status: 200, text: jsonText(result) ?? 'null' };
  } catch (error) {
    return failure(error);
  }
}

/** `{error, detail}` under the error's own code. (spec 7.2) */
function failure(thrown: unknown): { status: number; text: string } {
  const { status, detail } = (thrown ?? {}) as { status?: unknown; detail?: unknown };
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  const code = typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
  return {
    status: code,
    text: JSON.stringify({
      error,
      detail: typeof detail === 'string' ? detail : 'the function of the route failed',
    }),
  };
}
