import type { Observable } from 'rxjs';
import type { PhaseTimeouts } from '../transport.js';

export interface DownloadRequest {
  readonly url: string;
  /** A longer file is cut off and errors with phase `too-large`. @defaultValue 256 MiB */
  readonly maxBytes?: number;
  readonly timeouts: PhaseTimeouts;
  /**
   * Asks for the rest of a version of the file after the first bytes, with Range and If-Range. The host may still send the
   * whole file; the head shows which.
   */
  readonly resume?: {
    readonly from: number;
    /** A strong ETag, or a date of Last-Modified. */
    readonly validator: string;
  };
}

/** The head of the host's reply. */
export type DownloadHead = Pick<Downloaded, 'status' | 'headers'>;

export interface Downloaded {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** How many bytes `onChunk` received. */
  readonly bytes: number;
}

/**
 * Fetches a file that the service names, chunk by chunk: the next chunk waits for `onChunk`, which also gets the head of the
 * reply, as one object for all chunks. Only the body of a 200, or of a 206 with `resume`, is passed on; any other status is
 * emitted with 0 bytes. Cold: subscribing sends; one value, then completion; unsubscribing aborts. Never sends the key. Errors
 * with `TransportError`, or with the error that `onChunk` threw.
 */
export type Download = (
  request: DownloadRequest,
  onChunk: (bytes: Uint8Array, head?: DownloadHead) => void | Promise<void>,
) => Observable<Downloaded>;
