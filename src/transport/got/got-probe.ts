import { Observable } from 'rxjs';
import { faultOf, TransportError } from '../transport-error.js';
import { gotDelays, gotFault } from './got-fault.js';
import { createGotFiles, type GotFiles, type GotFilesOptions, travel, type Trip } from './got-trip.js';
import type { PhaseTimeouts } from '../transport.js';

/** The answer of a file's host, without the file. */
export interface Probed {
  readonly status: number;
  /** As the server reports it; absent if it reports none. */
  readonly contentType?: string;
}

/**
 * Asks whether a file is there. Cold: one value, then completion; unsubscribing aborts. Never sends the key. Errors with
 * `TransportError`.
 */
export type Probe = (request: {
  readonly url: string;
  readonly timeouts: PhaseTimeouts;
}) => Observable<Probed>;

/** Some hosts refuse HEAD, such as those of signed URLs: then a GET of one byte decides. */
const asks = [
  { method: 'HEAD', headers: {} },
  { method: 'GET', headers: { range: 'bytes=0-0' } },
] as const;
type Ask = (typeof asks)[number];

/**
 * The default probe, over got: HEAD, and a GET of the first byte if that is refused. Redirects and private addresses are
 * treated as for a download.
 */
export function createGotProbe(options: GotFilesOptions = {}): Probe {
  const files = createGotFiles(options);
  return ({ url, timeouts }) =>
    new Observable((subscriber) => {
      const trips = asks.map((ask): { ask: Ask; trip: Trip } => ({ ask, trip: { url, guarded: false } }));
      const timeout = gotDelays(timeouts);
      const send = async (): Promise<Probed> => {
        let probed: Probed = { status: 0 };
        for (const { ask, trip } of trips) {
          probed = await probe(trip, { ...ask, timeout }, files);
          if (probed.status < 400 || probed.status === 429 || subscriber.closed) break;
        }
        return probed;
      };
      send().then(
        (probed) => {
          subscriber.next(probed);
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
      return () => trips.forEach(({ trip }) => trip.stream?.destroy());
    });
}

async function probe(
  trip: Trip,
  options: Ask & { timeout: ReturnType<typeof gotDelays> },
  files: GotFiles,
): Promise<Probed> {
  const { nearService, publicHosts, connections } = files;
  try {
    const open = (url: URL) =>
      (trip.guarded ? publicHosts : nearService).stream(url, { ...options, isStream: true });
    const { stream, head } = await travel(trip, open, files);
    stream.destroy();
    const contentType = head.headers['content-type'];
    return { status: head.statusCode, ...(contentType !== undefined && { contentType }) };
  } catch (error) {
    trip.stream?.destroy();
    if (error instanceof TransportError) throw error;
    const asked = { method: 'GET', url: trip.url, headers: {} } as const;
    throw faultOf(asked, gotFault(error, connections, trip.head !== undefined));
  }
}
