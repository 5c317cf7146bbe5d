import type { WireRequest } from '../transport/transport.js';
import { createWireRequests, type Call } from './wire-request.js';

/** Every call of a queue endpoint as it goes on the wire; ids are encoded. (spec 4.1) */
export interface QueueRequests {
  run(body: string): WireRequest;
  /** @param responseMs how long the reply may take to begin */
  runSync(body: string, responseMs: number, waitMs?: number): WireRequest;
  /** @param waitMs asks /status-sync, which holds the request so long at most */
  status(jobId: string, waitMs?: number): WireRequest;
  stream(jobId: string): WireRequest;
  cancel(jobId: string): WireRequest;
  /** Buys work, as /run does. */
  retry(jobId: string): WireRequest;
  health(): WireRequest;
  purgeQueue(): WireRequest;
}

/** What answers at once: all but /runsync and /status-sync. Longer is a hang. */
const promptMs = 60_000;
/** A reply that is held back on purpose may be late by this. */
const graceMs = 10_000;

/** @param root address of the endpoint, without a slash at its end */
export function queueRequests(apiKey: string | undefined, root: string): QueueRequests {
  const wire = createWireRequests(apiKey);
  const request = (
    method: 'GET' | 'POST',
    path: string,
    { body, paid = false, responseMs = promptMs }: Partial<Call> = {},
  ) => wire({ method, url: `${root}/${path}`, body, paid, responseMs });
  return {
    run: (body) => request('POST', 'run', { body, paid: true }),
    runSync: (body, responseMs, waitMs) =>
      request('POST', `runsync${waiting(waitMs)}`, {
        body,
        paid: true,
        responseMs: Math.max(responseMs, (waitMs ?? -graceMs) + graceMs),
      }),
    status: (jobId, waitMs) =>
      waitMs === undefined
        ? request('GET', `status/${encodeURIComponent(jobId)}`)
        : request('GET', `status-sync/${encodeURIComponent(jobId)}${waiting(waitMs)}`, {
            responseMs: Math.max(promptMs, waitMs + graceMs),
          }),
    stream: (jobId) => request('GET', `stream/${encodeURIComponent(jobId)}`),
    cancel: (jobId) => request('POST', `cancel/${encodeURIComponent(jobId)}`),
    retry: (jobId) => request('POST', `retry/${encodeURIComponent(jobId)}`, { paid: true }),
    health: () => request('GET', 'health'),
    purgeQueue: () => request('POST', 'purge-queue'),
  };
}

function waiting(waitMs: number | undefined): string {
  return waitMs === undefined ? '' : `?wait=${waitMs}`;
}
