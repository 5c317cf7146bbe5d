import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Service } from '../service.js';
import type { Job } from '../queue/service-job.js';
import type { JobStore } from '../queue/job-store.js';
import type { Bill, BillLine } from '../bill.js';

/** `GET /emulator/bill`: a line of JSON for everything that was accepted, so that another process can count executions. */
export function addBillCall(app: Hono<{ Bindings: HttpBindings }>, service: Service): void {
  app.get('/emulator/bill', async ({ env: { outgoing } }) => {
    outgoing.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    await pipeline(Readable.from(withLineEnds(billTexts(service))), outgoing).catch(() => outgoing.destroy());
    return RESPONSE_ALREADY_SENT;
  });
}

function* withLineEnds(texts: Iterable<string>): Iterable<string> {
  for (const text of texts) yield `${text}\n`;
}

/** All lines of the bill as JSON texts: the closed ones, then those of jobs that can still change. */
export function* billTexts({ bill, jobs }: { bill: Bill; jobs: JobStore }): Iterable<string> {
  yield* bill.lines();
  for (const job of jobs.all()) yield JSON.stringify(billLine(job));
}

export function billLine(job: Job): BillLine {
  const { id, endpoint, operation, input, status, executions, costMicroDollars, submittedAt } = job;
  return { id, endpoint, operation, input, status, executions, costMicroDollars, submittedAt };
}
