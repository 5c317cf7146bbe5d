import { firstValueFrom, takeUntil, timer, type Observable, type SchedulerLike } from 'rxjs';
import { backoff } from '../../../src/policy/retry-delay.js';
import type { Download, Downloaded } from '../../../src/transport/got/download.js';
import { privateAddressCode } from '../../../src/transport/connections/private-address.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import {
  PictureError,
  maxPictureBytes,
  savePicture,
  type PictureFile,
  type PicturePlace,
} from './save-picture.js';
import { headBytes, pictureFormat } from './picture-name.js';

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

const pngEnd = Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1');
const jpegEnd = Buffer.from([0xff, 0xd9]);
const startOfScan = 0xda;
/** Of a JPEG segment: its marker and its length. */
const segmentHead = 4;

/**
 * Checks whether a picture's end has arrived: a reply without a length that breaks off looks whole, and so does a file that
 * had been cut short before its host got it. What lies behind the end is the writer's own affair.
 */
export class PictureEnd {
  private head: Buffer = Buffer.alloc(0);
  /** The latest bytes, in which a part of the end may lie. */
  private held: Buffer = Buffer.alloc(0);
  private length = 0;
  private hasEnded = false;
  /** Where the next segment of a JPEG begins; `undefined` once its scan has begun. A preview within a segment has an end as well. */
  private segmentAt: number | undefined = 0;

  add(chunk: Uint8Array): void {
    if (this.head.length < headBytes)
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)]).subarray(0, headBytes);
    this.length += chunk.length;
    if (this.hasEnded) return;
    this.held = Buffer.concat([this.held, chunk]);
    const format = pictureFormat(this.head);
    if (format === 'jpeg') this.skipSegments();
    const isInScan = format === 'jpeg' && this.segmentAt === undefined;
    this.hasEnded =
      (format === 'png' && this.held.includes(pngEnd)) || (isInScan && this.held.includes(jpegEnd));
    this.held = this.held.subarray(-(pngEnd.length - 1));
  }

  /** Only for formats with an end marker; false for others. */
  get isMissing(): boolean {
    switch (pictureFormat(this.head)) {
      case 'png':
      case 'jpeg':
        return !this.hasEnded;
      case 'webp':
        return this.length < this.head.readUInt32LE(4) + 8;
      default:
        return false;
    }
  }

  /** Passes over the segments before the scan, as far as they have arrived. */
  private skipSegments(): void {
    const start = this.length - this.held.length;
    while (this.segmentAt !== undefined && this.segmentAt + segmentHead <= this.length) {
      const at = this.segmentAt - start;
      const marker = this.held[at] === 0xff ? this.held.readUInt8(at + 1) : startOfScan;
      if (marker === startOfScan) {
        this.segmentAt = undefined;
        this.held = this.held.subarray(at);
      } else if (marker === 0xff) this.segmentAt += 1;
      else this.segmentAt += isAlone(marker) ? 2 : 2 + this.held.readUInt16BE(at + 2);
    }
  }
}

/** Start of the image, restarts and TEM have no length. */
function isAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}
