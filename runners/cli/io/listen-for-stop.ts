import { ReplaySubject, type Observable } from 'rxjs';
import type { CliIo } from './cli-io.js';

/** What a signal asks of a run. */
export interface SignalOrder {
  readonly how: 'graceful' | 'now';
  /** 128 and the number of the signal, as a shell counts. */
  readonly exitCode: number;
}

export interface StopOrders {
  readonly orders$: Observable<SignalOrder>;
  /** Aborts at the first of them. */
  readonly first: AbortSignal;
  /** That of the first order, if there was one. */
  exitCode(): number | undefined;
  /** Lets signals end the process again as they always do. */
  close(): void;
}

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Takes SIGINT, SIGTERM and SIGHUP: the first is the order to stop in good order, every further one to stop at once. But a
 * terminal that is closed may send SIGHUP more than once, through the shell: it never hurries.
 */
export function listenForStop(io: Pick<CliIo, 'onStop'>): StopOrders {
  const orders = new ReplaySubject<SignalOrder>();
  const first = new AbortController();
  let exitCode: number | undefined;
  const ignore = io.onStop((signal) => {
    if (signal === 'SIGHUP' && first.signal.aborted) return;
    exitCode ??= signalExitCodes[signal];
    orders.next({ how: first.signal.aborted ? 'now' : 'graceful', exitCode: signalExitCodes[signal] });
    first.abort();
  });
  return {
    orders$: orders.asObservable(),
    first: first.signal,
    exitCode: () => exitCode,
    close() {
      ignore();
      orders.complete();
    },
  };
}

/** Resolves at the first signal; a second one then ends the process as it always does. */
export function untilStopped(io: Pick<CliIo, 'onStop'>): Promise<void> {
  return new Promise((resolve) => {
    const ignore = io.onStop(() => {
      ignore();
      resolve();
    });
  });
}
