import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { errorText } from '../../../src/contract/millrace-error.js';
import { maxRequestBytes } from '../../../src/contract/limits.js';
import { type Answer, jsonAnswer, jsonText, Refusal, readBody } from './http-answer.js';
import { answering } from './answering.js';
import type { Call, Service } from '../service.js';
import type { RouteFunction } from '../settings/user-functions.js';
import { type Clock, sleep } from '../clock.js';

/** The path of the load-balanced endpoint below the emulator's address. */
export const lbPath = '/lb';

/** The routes of the load-balanced endpoint; any other path and method stays 404. (spec 4.2) */
export function addRouteCalls(app: Hono<{ Bindings: HttpBindings }>, service: Service): void {
  const isCold = createColdStart(service.clock, service.coldStartMs);
  for (const [name, route] of Object.entries(service.routes)) {
    const [method = '', path = ''] = name.split(' ');
    const requestOf = () => ({ operation: 'route', endpoint: name }) as const;
    app.on(
      method,
      `${lbPath}${path}`,
      answering(service, requestOf, async (call) => {
        if (isCold()) throw new Refusal(400, 'no workers available', 'a worker is starting: try again later');
        const body = method === 'GET' ? undefined : await readObject(call);
        return executed(service, name, body, await callRoute(service, route, call, body));
      }),
    );
  }
}

async function readObject(call: Call): Promise<Record<string, unknown>> {
  const { value } = await readBody(call.env.incoming, maxRequestBytes.route);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal(400, 'invalid input format', 'the body of a route is a JSON object');
  return value as Record<string, unknown>;
}

/** A route has no job, but a line on the bill. */
function executed(
  { bill, clock }: Service,
  endpoint: string,
  input: unknown,
  { status, text }: Awaited<ReturnType<typeof callRoute>>,
): Answer {
  bill.close({
    id: `route-${randomUUID()}`,
    endpoint,
    operation: 'route',
    input: input ?? null,
    status: status === 200 ? 'COMPLETED' : 'FAILED',
    executions: 1,
    costMicroDollars: 0,
    submittedAt: clock.now(),
  });
  return jsonAnswer(text, status);
}

/** Runs the function of a route, no faster than the latency drawn for it. Never rejects. */
async function callRoute(
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
  const error = errorText(thrown);
  const code = typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
  return {
    status: code,
    text: JSON.stringify({
      error,
      detail: typeof detail === 'string' ? detail : 'the function of the route failed',
    }),
  };
}

/** True while no worker is ready: the first request starts one, which takes `ms`. */
function createColdStart(clock: Clock, ms: number): () => boolean {
  let readyAt = ms > 0 ? undefined : 0;
  return () => {
    readyAt ??= clock.now() + ms;
    return clock.now() < readyAt;
  };
}
