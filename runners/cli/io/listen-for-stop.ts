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

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Takes SIGINT and SIGTERM: the first is the order to stop in good order, every further one to stop at once. */
export function listenForStop(io: Pick<CliIo, 'onStop'>): StopOrders {
  const orders = new ReplaySubject<SignalOrder>();
  const first = new AbortController();
  let exitCode: number | undefined;
  const ignore = io.onStop((signal) => {
    exitCode ??= exitCodes[signal];
    orders.next({ how: first.signal.aborted ? 'now' : 'graceful', exitCode: exitCodes[signal] });
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
