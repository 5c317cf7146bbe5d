import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { maxRequestBytes } from '../../../src/contract/limits.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import { answering } from '../answering.js';
import { readBody } from '../http/read-body.js';
import { Refusal } from '../http/refusal.js';
import type { Call, Service } from '../service.js';
import { callRoute } from './call-route.js';
import { createColdStart } from './create-cold-start.js';

/** Where the load-balanced endpoint lies below the emulator's address. */
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

/** A route has no job; on the bill it stands all the same. */
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
