import type { Observable } from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';
import type { ClientContext } from '../../src/operators/requests/exchange.js';
import { OpenJobs } from '../../src/operators/requests/open-jobs.js';
import type { RequestKind } from '../../src/policy/gates/gate.js';
import { DueQueue } from '../../src/policy/due-queue.js';
import { createJobIds } from '../../src/policy/job-ids.js';
import { openGate } from '../../src/policy/gates/built-in-gates.js';
import { createRetryQuota } from '../../src/policy/retry-quota.js';
import type { WireReply, WireRequest } from '../../src/transport/transport.js';

export type Virtual = RunHelpers & { scheduler: TestScheduler };

/** Runs a test under virtual time: one character of a marble diagram is 1 ms, and nothing waits for real. */
export function inVirtualTime(play: (virtual: Virtual) => void): void {
  const scheduler = new TestScheduler((actual, expected) => {
    expect(actual).toStrictEqual(expected);
  });
  scheduler.run((helpers) => play({ ...helpers, scheduler }));
}

/** A context by virtual time, without jitter, over a transport that the test scripts. */
export function virtualContext(
  scheduler: TestScheduler,
  transport: (request: WireRequest) => Observable<WireReply>,
  overrides: Partial<ClientContext> = {},
): ClientContext {
  return {
    endpointId: 'e',
    host: 'api.example.test',
    transport,
    gate: openGate({ scheduler, random: () => 1 }),
    quota: createRetryQuota(),
    jobIds: createJobIds(),
    scheduler,
    deadlines: new DueQueue(scheduler),
    open: new OpenJobs(),
    random: () => 1,
    secrets: ['canary-key-0123'],
    ...overrides,
  };
}

/** A request as a gate is asked for it, and the beginning of an answer to it. */
export function visit<K extends RequestKind = 'submit'>(kind?: K, key = 'k', endpointId = 'e') {
  return { kind: kind ?? ('submit' as const), key, endpointId, host: 'api.example.test' };
}

/** A reply of the service with a JSON body. */
export function replied(status: number, body: unknown, headers: Record<string, string> = {}): WireReply {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** A request as the endpoints make them, for operators that do not care which. */
export function requestTo(path: string, method: 'GET' | 'POST' = 'POST'): WireRequest {
  const ms = 60_000;
  const timeouts = {
    lookupMs: ms,
    connectMs: ms,
    secureConnectMs: ms,
    sendMs: ms,
    responseMs: ms,
    readMs: ms,
    idleMs: ms,
    requestMs: ms,
  };
  return { method, url: `https://api.example.test${path}`, headers: {}, timeouts, paid: method === 'POST' };
}
