import { lastOf, type Steps } from '../../../src/operators/flow.js';
import { UploadError, type PictureHost } from '../uploads/picture-host.js';
import { localPicturePath } from '../uploads/create-picture-host.js';
import type { RowRequest } from '../manifest/manifest-row.js';
import { endInvalid } from '../end/end-row.js';
import { failedRow } from '../row/records-of.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { runsyncTimeoutOf } from '../row/task.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { stopCauses } from '../stop/stop-causes.js';

type EditRequest = Extract<RowRequest, { kind: 'edit' }>;

/**
 * Uploads the local pictures that a row names before its purchase begins, so that the service can fetch them. The run's
 * files refer to them by content name and path; only the request that is sent has their URLs, which grant access and
 * outlive the row's deadline. Returns false if a picture cannot be uploaded: nothing of the row is sent then.
 */
export function* arePicturesHosted(
  context: PurchaseContext,
  row: RowInFlight,
  host: PictureHost,
): Steps<never, boolean> {
  const { request } = row.task.row;
  if (request.kind !== 'edit' || !request.input.images.some(isLocal)) return true;
  try {
    const requests = yield* lastOf(hosted(context, host, { ...row.task.row, request }));
    if (requests !== undefined)
      row.change({ facts: { ...row.task.row, request: requests.named }, request: requests.wire });
    return true;
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    yield* notUploaded(context, row, error);
    return false;
  }
}

/** How long after the deadline a picture can still be fetched, in ms: the job that was accepted last may begin so late. */
const graceMs = 900_000;

async function hosted(
  { options }: PurchaseContext,
  host: PictureHost,
  { request, endpoint }: { readonly request: EditRequest; readonly endpoint: string },
): Promise<{ readonly named: EditRequest; readonly wire: EditRequest }> {
  const lifetimeMs = options.timeoutMs + runsyncTimeoutOf(options, endpoint) + graceMs;
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

/** Handles a failed upload. A picture that cannot be read ends the row; a store that accepts nothing stops the run. */
function* notUploaded(
  context: PurchaseContext,
  row: RowInFlight,
  { why, message }: UploadError,
): Steps<never> {
  if (why !== 'picture') {
    const isRefused = why === 'refused';
    context.stops.stop(isRefused ? stopCauses.uploadRefused(message) : stopCauses.uploadUnreachable(message));
    return;
  }
  const { facts } = row.progress;
  row.change({ isOver: true });
  yield* endInvalid(context, row.id, failedRow(facts), message);
}

function isLocal(image: string): boolean {
  return localPicturePath(image) !== undefined;
}
