import type { Observable } from 'rxjs';
import type { PhaseTimeouts } from '../transport.js';

export interface DownloadRequest {
  readonly url: string;
  /** A longer file is cut off and errors with phase `too-large`. @defaultValue 256 MiB */
  readonly maxBytes?: number;
  readonly timeouts: PhaseTimeouts;
  /**
   * Asks for what follows the first bytes of a version of the file, by Range and If-Range. The host may answer with all of
   * it all the same: the head says which.
   */
  readonly resume?: {
    readonly from: number;
    /** A strong ETag, or a date of Last-Modified. */
    readonly validator: string;
  };
}

/** What a host says before the bytes. */
export type DownloadHead = Pick<Downloaded, 'status' | 'headers'>;

export interface Downloaded {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** How many bytes `onChunk` got. */
  readonly bytes: number;
}

/**
 * Fetches a file that the service names, chunk by chunk: the next chunk waits for `onChunk`. Only the body of a 200, or of
 * a 206 under `resume`, is passed on, with the head of the reply, one object for all its chunks; any other status is emitted
 * with 0 bytes. Cold: subscribing sends, one value, then completion;
 * unsubscribing aborts. Carries no key. Errors with `TransportError`, or with the error that `onChunk` threw.
 */
export type Download = (
  request: DownloadRequest,
  onChunk: (bytes: Uint8Array, head?: DownloadHead) => void | Promise<void>,
) => Observable<Downloaded>;
