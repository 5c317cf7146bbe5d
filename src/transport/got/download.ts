import type { Observable } from 'rxjs';
import type { PhaseTimeouts } from '../transport.js';

export interface DownloadRequest {
  readonly url: string;
  /** A longer file is cut off and errors with phase `too-large`. @defaultValue 256 MiB */
  readonly maxBytes?: number;
  readonly timeouts: PhaseTimeouts;
}

export interface Downloaded {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** How many bytes `onChunk` got. */
  readonly bytes: number;
}

/**
 * Fetches a file that the service names, chunk by chunk: the next chunk waits for `onChunk`. Only the body of a 200 is
 * passed on; any other status is emitted with 0 bytes. Cold: subscribing sends, one value, then completion;
 * unsubscribing aborts. Carries no key. Errors with `TransportError`, or with the error that `onChunk` threw.
 */
export type Download = (
  request: DownloadRequest,
  onChunk: (bytes: Uint8Array) => void | Promise<void>,
) => Observable<Downloaded>;
