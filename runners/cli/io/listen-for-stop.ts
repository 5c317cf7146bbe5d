import { ReplaySubject, type Observable } from 'rxjs';
import type { CliIo } from './cli-io.js';

export interface SignalOrder {
  readonly how: 'graceful' | 'now';
  /** 128 plus the signal's number, as in a shell. */
  readonly exitCode: number;
}

export interface StopOrders {
  readonly orders$: Observable<SignalOrder>;
  readonly first: AbortSignal;
  exitCode(): number | undefined;
  /** Stops listening: signals end the process again. */
  close(): void;
}

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Turns signals into stops: the first one stops gracefully, each further one at once. A second SIGHUP is ignored,
 * because a terminal that closes may send several.
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

/** Resolves at the first signal. A second one ends the process. */
export function untilStopped(io: Pick<CliIo, 'onStop'>): Promise<void> {
  return new Promise((resolve) => {
    const ignore = io.onStop(() => {
      ignore();
      resolve();
    });
  });
}
