import { ReplaySubject, type Observable } from 'rxjs';
import type { CliIo, StopSignal } from './cli-io.js';

/** How a run is told to end: first in good order, then at once. */
export interface StopRequests {
  readonly requests$: Observable<'graceful' | 'now'>;
  /** The first signal that came. */
  signal(): StopSignal | undefined;
  /** Lets signals end the process again as they always do. */
  close(): void;
}

/** Takes SIGINT and SIGTERM: the first is a request to stop in good order, any further one to stop at once. */
export function listenForStop(
  io: Pick<CliIo, 'onStop'>,
  heard: (how: 'graceful' | 'now') => void,
): StopRequests {
  const requests = new ReplaySubject<'graceful' | 'now'>();
  let first: StopSignal | undefined;
  const ignore = io.onStop((signal) => {
    const how = first === undefined ? 'graceful' : 'now';
    first ??= signal;
    heard(how);
    requests.next(how);
  });
  return {
    requests$: requests.asObservable(),
    signal: () => first,
    close() {
      ignore();
      requests.complete();
    },
  };
}
