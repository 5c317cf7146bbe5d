import type { Observable } from 'rxjs';
import type { PhaseTimeouts } from './transport.js';

/** A picture past so many bytes is cut off, unless told otherwise. */
export const defaultMaxDownloadBytes = 256 * 1024 * 1024;

export interface DownloadRequest {
  readonly url: string;
  /** More bytes than this error with phase `too-large`. */
  readonly maxBytes: number;
  readonly timeouts: PhaseTimeouts;
}

export interface Downloaded {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Handed to `onChunk`. */
  readonly bytes: number;
}

/**
 * Fetches a file that the service names, piece by piece: the next piece waits for `onChunk`. Only the body of a 200 is
 * handed on; any other status is emitted with 0 bytes. Cold: subscribing sends, one value, then completion;
 * unsubscribing aborts. Carries no key. Errors with `TransportError`, or with what `onChunk` threw.
 */
export type Download = (
  request: DownloadRequest,
  onChunk: (bytes: Uint8Array) => void | Promise<void>,
) => Observable<Downloaded>;
