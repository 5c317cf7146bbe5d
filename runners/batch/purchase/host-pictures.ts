import { concatMap, defer, EMPTY, from, ignoreElements, catchError, type Observable } from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { localPicturePath } from '../uploads/create-picture-host.js';
import { UploadError, type PictureHost } from '../uploads/picture-host.js';
import type { RowRequest } from '../manifest/manifest-row.js';
import { endRow } from '../end/end-row.js';
import { failedRecord, failedRow, rowError } from '../row/records-of.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { stopCauses } from '../stop/stop-causes.js';

type EditRequest = Extract<RowRequest, { kind: 'edit' }>;

/**
 * Sees to it that the pictures of this machine that a row names lie where the service can fetch them, before its purchase
 * begins. The files name them by what they are called there; only the request on the wire has their addresses, which are
 * keys to them and outlive the row's deadline.
 */
export function withHostedPictures(
  context: PurchaseContext,
  row: RowInFlight,
  purchase: Observable<JobEvent<unknown>>,
): Observable<JobEvent<unknown>> {
  const { request } = row.task.row;
  const { host } = context.pictures;
  if (host === undefined || request.kind !== 'edit' || !request.input.images.some(isLocal)) return purchase;
  return defer(() => from(hosted(context, host, { ...row.task.row, request }))).pipe(
    concatMap(({ named, wire }) => {
      row.change({ facts: { ...row.task.row, request: named }, request: wire });
      return purchase;
    }),
    catchError((error: unknown) => {
      if (error instanceof UploadError) return notUploaded(context, row, error);
      throw error;
    }),
  );
}

/** Time beyond the deadline that a picture can be fetched: a job that was accepted last may begin then. */
const graceMs = 900_000;

async function hosted(
  { options }: PurchaseContext,
  host: PictureHost,
  { request, endpoint }: { readonly request: EditRequest; readonly endpoint: string },
): Promise<{ readonly named: EditRequest; readonly wire: EditRequest }> {
  const lifetimeMs =
    options.timeoutMs + (options.executionTimeoutsMs[endpoint] ?? options.runsyncTimeoutMs) + graceMs;
  const pictures = await Promise.all(
    request.input.images.map(async (image) => {
      const path = localPicturePath(image);
      if (path === undefined) return { named: image, wire: image };
      const name = await host.put(path);
      return { named: `${name}#${encodeURI(path)}`, wire: await host.addressOf(name, lifetimeMs) };
    }),
  );
  const withImages = (images: string[]): EditRequest => ({ ...request, input: { ...request.input, images } });
  return {
    named: withImages(pictures.map(({ named }) => named)),
    wire: withImages(pictures.map(({ wire }) => wire)),
  };
}

/** Nothing of the row was sent. A picture that is gone ends it; a store that takes none ends the run. */
function notUploaded(
  context: PurchaseContext,
  row: RowInFlight,
  { why, message }: UploadError,
): Observable<never> {
  if (why !== 'picture') {
    context.stops.stop(
      why === 'refused' ? stopCauses.uploadRefused(message) : stopCauses.unreachable(message),
    );
    return EMPTY;
  }
  const { facts } = row.progress;
  row.change({ isOver: true });
  const outcome = failedRecord(row.id, rowError({ code: 'invalid-row', message, paid: 'no' }), {
    ...{ at: context.options.scheduler.now(), cost: null, source: 'none', statusCalls: 0 },
    row: failedRow(facts),
  });
  return endRow(context, { records: [outcome], row: facts.row }).pipe(ignoreElements());
}

function isLocal(image: string): boolean {
  return localPicturePath(image) !== undefined;
}
