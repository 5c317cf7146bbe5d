import { defer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { RouteEndpoint } from '../../../src/endpoints/route-endpoint.js';
import type { Job } from '../../../src/operators/job.js';
import { journalled } from './journalled.js';
import type { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';

/** One purchase of a row, or the polling of one: a job of the library, with the journal as its checkpoint. */
export function jobOf(run: Run, row: RowRun): Observable<JobEvent<unknown>> {
  return defer(() => {
    const earlier = row.statusCalls();
    const job = makeJob(run, row);
    row.statusCalls = () => earlier + job.statusCalls;
    return job;
  });
}

function makeJob(run: Run, row: RowRun): Job<unknown> {
  const { endpoint, mode, resolution } = row.row;
  const request = row.wire ?? row.row.request;
  const call = {
    key: row.id,
    checkpoint: journalled(run, row),
    ...(resolution !== undefined && { variant: resolution }),
  };
  if (request.kind === 'route') {
    const routes = routesOf(run);
    const { method, route } = request;
    return method === 'GET' ? routes.get(route, call) : routes.post(route, request.body ?? {}, call);
  }
  const queue = run.queues(endpoint);
  if (row.jobId !== undefined && row.task.what === 'poll') {
    const { submittedAt } = row;
    return queue.attach(row.jobId, { ...call, ...(submittedAt !== undefined && { submittedAt }) });
  }
  return mode === 'sync' ? queue.runSync(request.input, call) : queue.run(request.input, call);
}

function routesOf({ routes }: Run): RouteEndpoint {
  if (routes === undefined)
    throw new MillraceError('usage', 'routes need their host: {lb_base_url} is missing');
  return routes;
}
