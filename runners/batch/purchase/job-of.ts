import { EMPTY, merge, tap, type Observable } from 'rxjs';
import type { Checkpoint, CheckpointEvent } from '../../../src/contract/outcome.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { JobWebhook } from '../../../src/policy/job-webhook.js';
import { lastOf, type Steps } from '../../../src/operators/flow.js';
import type { Job } from '../../../src/operators/job.js';
import type { PurchaseContext, RunService } from '../context/purchase-context.js';
import type { RowRecord } from '../row/record-head.js';
import { askedHash } from '../manifest/request-hash.js';
import { signaturesIn } from '../uploads/picture-host.js';
import { intentRecord } from '../row/records-of.js';
import type { RowInFlight, RowProgress } from '../row/row-in-flight.js';
import { isCalledBack, isRead, type RowFacts } from '../row/task.js';

/** One purchase of a row, or the polling of one: a job of the library, with the journal as its checkpoint. */
export function jobOf(context: PurchaseContext, row: RowInFlight): Job<unknown> {
  const { endpoint, resolution } = row.task.row;
  const { request, jobId, submittedAt } = row.progress;
  const checkpoint = journalled(context, row);
  const webhook = isCalledBack(row.task.row) ? context.callbacks?.row(row) : undefined;
  const secrets = signaturesOf(row.progress);
  if (jobId === undefined || row.task.what !== 'poll')
    return submittedJob(context.service, { ...row.task.row, request }, { checkpoint, webhook, secrets });
  return context.service.queues(endpoint).attach(jobId, {
    key: row.id,
    checkpoint,
    ...(resolution !== undefined && { variant: resolution }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(webhook && { webhook }),
    ...(secrets.length > 0 && { secrets }),
    sync: row.task.row.mode === 'sync',
    wasExpired: row.task.wasExpired === true,
  });
}

/**
 * The signatures of uploaded pictures: they must be in no file, also where the service repeats its request. Where another start or
 * worker has sent the row, they are found by the names of its pictures.
 */
function signaturesOf({ request, facts }: RowProgress): readonly (string | RegExp)[] {
  if (request.kind !== 'edit') return [];
  const sent = request === facts.request ? [] : request.input.images;
  const known = sent.flatMap((image) => /[?&]X-Amz-Signature=(\w+)/.exec(image)?.[1] ?? []);
  return [...known, ...signaturesIn(facts.request)];
}

/** A job of the library that sends a row's request. */
export function submittedJob(
  { queues, routes, lowPriority = false }: Pick<RunService, 'queues' | 'routes' | 'lowPriority'>,
  { id, request, endpoint, mode, resolution }: RowFacts,
  {
    checkpoint,
    webhook,
    secrets = [],
  }: {
    checkpoint?: Checkpoint<unknown>;
    webhook?: JobWebhook | undefined;
    secrets?: readonly (string | RegExp)[];
  } = {},
): Job<unknown> {
  const call = {
    key: id,
    ...(checkpoint && { checkpoint }),
    ...(resolution !== undefined && { variant: resolution }),
    ...(secrets.length > 0 && { secrets }),
  };
  if (request.kind !== 'route') {
    const queue = queues(endpoint);
    if (mode === 'sync') return queue.runSync(request.input, call);
    return queue.run(request.input, {
      ...call,
      ...(webhook && { webhook }),
      ...(lowPriority && { policy: { lowPriority } }),
    });
  }
  if (routes === undefined)
    throw new MillraceError('usage', 'routes need their host: {lb_base_url} is missing');
  const { method, route } = request;
  return method === 'GET' ? routes.get(route, call) : routes.post(route, request.body ?? {}, call);
}

/**
 * Uses the journal as the checkpoint of a row's job: the intent is written before the POST, the id before the first
 * poll. An error here prevents the POST and ends the run. The end of a job is not written here: `endPurchase` does that
 * after `settled`.
 */
export function journalled(
  context: PurchaseContext,
  row: RowInFlight,
): (event: CheckpointEvent<unknown>) => Observable<unknown> {
  return (event) => {
    switch (event.type) {
      case 'intent':
        return intend(context, row);
      case 'refused':
        noteFailedTry(context, row, event.why);
        if (isRead(row.task.row)) return EMPTY;
        return append(context, row, {
          k: 'refused',
          at: context.options.scheduler.now(),
          id: row.id,
          why: event.why,
        });
      case 'accepted':
        context.service.reach.decided(row.task.row.endpoint);
        return append(context, row, {
          k: 'accepted',
          at: context.options.scheduler.now(),
          id: row.id,
          jobId: event.jobId,
        });
      case 'settled':
        return EMPTY;
    }
  };
}

/** Counts nothing while the run stops, because rows are then left before their POST. */
function noteFailedTry({ stops, service, options }: PurchaseContext, row: RowInFlight, why: string): void {
  if (stops.isStopping) return;
  const { reach, rowSlots } = service;
  const at = options.scheduler.now();
  const isHopeless = reach.failed({ sentAt: row.progress.submittedAt ?? at, at });
  if (isHopeless && !rowSlots.areOthersAnswered(row.task.row, reach)) stops.stop(reach.whyUnreached(why));
}

/** A job that was bought elsewhere is journalled like a purchase, but without a price. */
export function* collecting(context: PurchaseContext, row: RowInFlight, jobId: string): Steps<never> {
  const { journal, service } = context;
  const at = context.options.scheduler.now();
  const { facts, attempts } = row.progress;
  const intent = intentRecord(facts, { at, attempt: attempts, price: 0, takes: 'job', jobId });
  row.take(intent);
  service.jobIds.keep({ endpoint: facts.endpoint, jobId, key: row.id });
  yield* lastOf(merge(journal.append(intent), journal.append({ k: 'accepted', at, id: row.id, jobId })));
}

/**
 * Journals that the POST is about to be sent: from here on the row cannot simply be left. A read can be left at any time and
 * gets no record yet.
 */
function intend(context: PurchaseContext, row: RowInFlight): Observable<unknown> {
  const { facts, attempts, submittedAt, price } = row.progress;
  const isFree = isRead(facts);
  const at = (isFree ? submittedAt : undefined) ?? context.options.scheduler.now();
  const intended = { at, attempt: attempts + 1, price: isFree ? 0 : price };
  const intent = intentRecord(facts, intended, askedHash(row.task.row));
  row.take(intent);
  return isFree ? EMPTY : context.journal.append(intent);
}

function append(context: PurchaseContext, row: RowInFlight, record: RowRecord): Observable<unknown> {
  return context.journal.append(record).pipe(tap(() => row.take(record)));
}
