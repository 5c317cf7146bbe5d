import { firstValueFrom, takeUntil, timer, type Observable, type SchedulerLike } from 'rxjs';
import { backoff } from '../../../src/policy/retry-delay.js';
import type { Download, Downloaded, DownloadHead } from '../../../src/transport/got/download.js';
import { privateAddressCode } from '../../../src/transport/connections/private-address.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { ArtifactError } from './artifact-error.js';
import type { ArtifactPart } from './artifact-part.js';
import { saveArtifact, type ArtifactFile, type ArtifactPlace } from './save-artifact.js';

export interface DownloadSettings {
  readonly download: Download;
  readonly scheduler: SchedulerLike;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Extra tries after the first. */
  readonly maxRetries: number;
  /** Emits when the artifact is to be left for later. */
  readonly left$: Observable<unknown>;
}

/** How long the host may take until its reply begins, in ms. */
const responseMs = 60_000;
/** How long a file, or a picture, may take on one connection, in ms. */
const fileMs = 4 * 3_600_000;
const pictureMs = 600_000;

/** Statuses below 500 that may be temporary. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);
/** The status of a host that has no bytes after the requested position: the whole file is requested again. */
const notSatisfiable = 416;

/** If a try gets this many bytes further than any before, it does not count as failed. */
const progressBytes = 2 ** 20;

/**
 * Downloads an artifact, without the API key, and saves it; tries again while that may help. Resolves to `undefined` if it is
 * left for later. (spec 8: the URL of a picture is valid for 7 days)
 *
 * @throws {ArtifactError} if it cannot be downloaded now; {@link DiskFault}.
 */
export async function downloadArtifact(
  url: string,
  place: ArtifactPlace,
  settings: DownloadSettings,
): Promise<ArtifactFile | undefined> {
  try {
    return await saveArtifact(async (part) => {
      try {
        await fetchWhole(url, part, settings);
      } catch (error) {
        if (error instanceof Left || (error instanceof ArtifactError && error.mayPass)) await part.leave();
        throw error;
      }
    }, place);
  } catch (error) {
    if (error instanceof Left) return undefined;
    throw error;
  }
}

/** Continues after bytes that arrived before a connection broke or a start ended, unless the host cannot. */
async function fetchWhole(url: string, part: ArtifactPart, settings: DownloadSettings): Promise<void> {
  const { random, scheduler, maxRetries, left$ } = settings;
  let furthest = part.length;
  for (let failures = 1, tries = 1; ; failures++, tries++) {
    try {
      return await fetchOnce(url, part, settings);
    } catch (error) {
      const failure = asArtifactError(error, url);
      if (!failure.mayPass) throw withTries(failure, tries);
      if (part.length - furthest >= progressBytes) failures = 0;
      furthest = Math.max(furthest, part.length);
      if (failures > maxRetries) throw withTries(failure, tries);
      const waited = timer(backoff(Math.max(failures, 1), random), scheduler).pipe(takeUntil(left$));
      if ((await firstValueFrom(waited, { defaultValue: undefined })) === undefined) throw new Left();
    }
  }
}

async function fetchOnce(
  url: string,
  part: ArtifactPart,
  { download, left$ }: DownloadSettings,
): Promise<void> {
  const { version } = part;
  const { validator } = version;
  const resume = validator === undefined || part.length === 0 ? undefined : { from: part.length, validator };
  if (resume === undefined) await part.restart();
  const take = async (chunk: Uint8Array, head?: DownloadHead): Promise<void> => {
    if (head !== undefined && !version.goesOn(head, part.length)) await part.restart();
    await part.write(chunk);
  };
  const request = {
    url,
    maxBytes: part.mostBytes,
    timeouts: phaseTimeouts(responseMs, { readMs: part.mayBeLarge ? fileMs : pictureMs }),
    ...(resume && { resume }),
  };
  const downloaded = await firstValueFrom(download(request, take).pipe(takeUntil(left$)), {
    defaultValue: undefined,
  });
  if (downloaded === undefined) throw new Left();
  check(downloaded, part, resume !== undefined);
  part.format();
}

/** The download was stopped because the run stops. */
class Left extends Error {}

/** Checks the status and headers first, even if the reply is empty or cut, and then the bytes. */
function check({ status, headers, bytes }: Downloaded, part: ArtifactPart, isPart: boolean): void {
  const { version } = part;
  if (status === notSatisfiable) version.forget();
  if (status !== 200 && !(status === 206 && isPart))
    throw new ArtifactError(`HTTP ${status}`, {
      httpStatus: status,
      mayPass: status >= 500 || passing.has(status) || (status === notSatisfiable && isPart),
    });
  const announced = Number(headers['content-length'] ?? bytes);
  if (headers['content-encoding'] === undefined && announced !== bytes)
    throw new ArtifactError(`${bytes} bytes came of ${announced} that were announced`, { mayPass: true });
  const { total = part.length } = version;
  if (total === part.length && !part.isCut) return;
  // The bytes are not the beginning of a whole file.
  version.forget();
  const why =
    total === part.length
      ? `the ${part.name} is cut short: ${part.length} bytes came, and its end is not among them`
      : `${part.length} bytes came of ${total}`;
  throw new ArtifactError(why, { mayPass: true });
}

function asArtifactError(error: unknown, url: string): ArtifactError {
  if (error instanceof TransportError) {
    const isFinal = error.phase === 'tls' || error.phase === 'too-large';
    const mayPass = !isFinal && error.systemCode !== privateAddressCode;
    return new ArtifactError(error.message, { mayPass });
  }
  if (!(error instanceof ArtifactError)) throw error;
  return error.reworded(`GET ${withoutSecrets(url)}: ${error.message}`);
}

function withTries(failure: ArtifactError, tries: number): ArtifactError {
  return tries === 1 ? failure : failure.reworded(`${failure.message} (tries: ${tries})`);
}

/** A query often contains a signature, and a name and a password may stand before the host. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
