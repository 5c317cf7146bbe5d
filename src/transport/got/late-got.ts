import { defer, switchMap } from 'rxjs';
import type { Transport } from '../transport.js';
import type { Download } from './download.js';
import type { GotDownloadOptions } from './got-download.js';

/** A transport that can be loaded before its first request. */
export interface LateTransport extends Transport {
  /** Loads the transport. If it is not called, the first request loads it. */
  load(): Promise<void>;
}

/** The transport over got, loaded when it is needed: a start that has nothing to send takes 7 MB less memory without it. */
export function lateGotTransport(): LateTransport {
  let loaded: Transport | undefined;
  let loading: Promise<Transport> | undefined;
  const load = () =>
    (loading ??= import('./got-transport.js').then(
      ({ createGotTransport }) => (loaded = createGotTransport()),
    ));
  const transport: Transport = (request) =>
    loaded === undefined ? defer(load).pipe(switchMap((late) => late(request))) : loaded(request);
  return Object.assign(transport, {
    load: async () => {
      await load();
    },
    close: () =>
      void loading?.then(
        (late) => late.close?.(),
        () => undefined,
      ),
  });
}

/** The download over got, loaded with the first file. */
export function lateGotDownload(options: GotDownloadOptions): Download {
  let loading: Promise<Download> | undefined;
  const load = () =>
    (loading ??= import('./got-download.js').then(({ createGotDownload }) => createGotDownload(options)));
  return (request, onChunk) => defer(load).pipe(switchMap((late) => late(request, onChunk)));
}
