import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ServiceRequest } from '../faults/parse-faults.js';
import type { Fault } from '../faults/fault.js';
import { applyFault } from '../faults/apply-fault.js';
import { type Answer, errorAnswer, Refusal, sendAnswer } from './http-answer.js';
import type { Call, Service } from '../service.js';

/** Handles a request; `jobFaults` apply to the job that it may submit. */
export type Handle = (call: Call, jobFaults: readonly Fault[]) => Answer | Promise<Answer>;

/** Makes a handler of the server: rate limit, faults before, the work, faults after, the answer. */
export function answering(
  service: Service,
  requestOf: (call: Call) => ServiceRequest,
  handle: Handle,
): (call: Call) => Promise<Response> {
  return async (call) => {
    const { outgoing } = call.env;
    const request = requestOf(call);
    const { reply: fault, job } = service.draw(request);
    const limited = request.operation === 'picture' ? undefined : rateLimited(service);
    if (limited) await sendAnswer(outgoing, limited);
    else if (fault?.phase === 'before') await applyFault(fault, undefined, outgoing, service.clock);
    else {
      const answer = await work(call, handle, job);
      if (fault === undefined) await sendAnswer(outgoing, answer);
      else await applyFault(fault, answer, outgoing, service.clock);
    }
    return RESPONSE_ALREADY_SENT;
  };
}

async function work(call: Call, handle: Handle, jobFaults: readonly Fault[]): Promise<Answer> {
  try {
    return await handle(call, jobFaults);
  } catch (error) {
    return errorAnswer(error);
  }
}

/** Makes a handler without faults and rate limit. */
export function answeringPlainly(
  handle: (call: Call) => Answer | Promise<Answer>,
): (call: Call) => Promise<Response> {
  return async (call) => {
    await sendAnswer(call.env.outgoing, await work(call, handle, []));
    return RESPONSE_ALREADY_SENT;
  };
}

function rateLimited(service: Service): Answer | undefined {
  const waitMs = service.takeTurn();
  if (waitMs === 0) return undefined;
  const headers: Record<string, string> = service.sendsRetryAfter
    ? { 'Retry-After': String(Math.ceil(waitMs / 1_000)) }
    : {};
  return errorAnswer(new Refusal(429, 'too many requests', 'the rate limit is reached', headers));
}
