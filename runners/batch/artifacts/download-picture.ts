import { firstValueFrom, takeUntil, timer, type Observable, type SchedulerLike } from 'rxjs';
import { backoff } from '../../../src/policy/retry-delay.js';
import type { Download, Downloaded } from '../../../src/transport/got/download.js';
import { privateAddressCode } from '../../../src/transport/connections/private-address.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { PictureEnd } from './picture-end.js';
import { PictureError } from './picture-error.js';
import { maxPictureBytes, savePicture, type PictureFile, type PicturePlace } from './save-picture.js';

export interface DownloadSettings {
  readonly download: Download;
  readonly scheduler: SchedulerLike;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Extra tries after the first. */
  readonly maxRetries: number;
  /** Emits when the picture is to be left for later. */
  readonly left$: Observable<unknown>;
}

/** How long the host may take until its reply begins, in ms. */
const responseMs = 60_000;

/** Statuses below 500 that pass by themselves. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Fetches a picture and saves it, without the key, trying again while that may help; `undefined` when it is left for
 * later. (spec 8: the URL lives 7 days)
 *
 * @throws {PictureError} where it cannot be had now; {@link DiskFault}.
 */
export async function downloadPicture(
  url: string,
  place: PicturePlace,
  settings: DownloadSettings,
): Promise<PictureFile | undefined> {
  const { random, scheduler, maxRetries, left$ } = settings;
  for (let failures = 1; ; failures++) {
    try {
      return await fetchOnce(url, place, settings);
    } catch (error) {
      if (error instanceof Left) return undefined;
      const failure = asPictureError(error, url);
      if (!failure.mayPass || failures > maxRetries) throw withTries(failure, failures);
      const waited = timer(backoff(failures, random), scheduler).pipe(takeUntil(left$));
      if ((await firstValueFrom(waited, { defaultValue: undefined })) === undefined) return undefined;
    }
  }
}

function fetchOnce(
  url: string,
  place: PicturePlace,
  { download, left$ }: DownloadSettings,
): Promise<PictureFile> {
  const request = { url, maxBytes: maxPictureBytes, timeouts: phaseTimeouts(responseMs) };
  return savePicture(async (write) => {
    const end = new PictureEnd();
    const take = (chunk: Uint8Array): Promise<void> => {
      end.add(chunk);
      return write(chunk);
    };
    const fetched = download(request, take).pipe(takeUntil(left$));
    const downloaded = await firstValueFrom(fetched, { defaultValue: undefined });
    if (downloaded === undefined) throw new Left();
    check(downloaded);
    if (end.isMissing)
      throw new PictureError(
        `the picture is cut short: ${downloaded.bytes} bytes came, and its end is not among them`,
        { mayPass: true },
      );
  }, place);
}

/** The download was cut off because the run stops. */
class Left extends Error {}

/** Checks status and headers before the bytes, also of an empty or cut reply. */
function check({ status, headers, bytes }: Downloaded): void {
  if (status !== 200)
    throw new PictureError(`HTTP ${status}`, {
      httpStatus: status,
      mayPass: status >= 500 || passing.has(status),
    });
  const announced = Number(headers['content-length'] ?? bytes);
  if (headers['content-encoding'] === undefined && announced !== bytes)
    throw new PictureError(`${bytes} bytes came of ${announced} that were announced`, { mayPass: true });
}

function asPictureError(error: unknown, url: string): PictureError {
  if (error instanceof TransportError) {
    const isFinal = error.phase === 'tls' || error.phase === 'too-large';
    const mayPass = !isFinal && error.systemCode !== privateAddressCode;
    return new PictureError(error.message, { mayPass });
  }
  if (!(error instanceof PictureError)) throw error;
  const { httpStatus, isNoPicture, mayPass } = error;
  return new PictureError(`GET ${withoutQuery(url)}: ${error.message}`, {
    isNoPicture,
    mayPass,
    ...(httpStatus !== undefined && { httpStatus }),
  });
}

function withTries(failure: PictureError, tries: number): PictureError {
  if (tries === 1) return failure;
  const { httpStatus, isNoPicture, mayPass } = failure;
  return new PictureError(`${failure.message} (tries: ${tries})`, {
    isNoPicture,
    mayPass,
    ...(httpStatus !== undefined && { httpStatus }),
  });
}

/** A query often holds a signature. */
function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? url;
}
