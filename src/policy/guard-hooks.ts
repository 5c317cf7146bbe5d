import { catchError, defer, EMPTY, from, throwError, type Observable, type ObservableInput } from 'rxjs';
import { notA } from '../contract/check-option.js';
import type { Gate } from './gates/gate.js';

/** Reports an error that ends no job, as rxjs does: to `config.onUnhandledError`, or else as an uncaught exception. */
export function reportUnhandled(error: unknown): void {
  throwError(() => error).subscribe();
}

/** Calls a hook of the user. If it throws, reports the error and returns `undefined`. */
export function callHook<R>(hook: () => R): R | undefined {
  try {
    return hook();
  } catch (error) {
    reportUnhandled(error);
    return undefined;
  }
}

/**
 * A context of asynchronous calls, as that of `AsyncLocalStorage`: an `AsyncResource` of Node.js. Only the platform can create
 * one, because browsers have none.
 */
export interface AsyncScope {
  runInAsyncScope(work: () => void): void;
}

/**
 * What a function of the user returned, as a stream. A function that returns nothing is refused: if it is only a forgotten
 * `return`, its work would count as done before it is.
 *
 * @param name of the function, for the error
 * @throws InvalidOptionError
 */
export function awaitable<T>(name: string, returned: ObservableInput<T>): Observable<T> {
  try {
    return from(returned);
  } catch {
    throw notA(name, 'function that returns a promise or a stream, as an async one does', returned);
  }
}

/**
 * Wraps a gate of the user so that its errors lose no purchase. Errors of `observe` are reported. After an error of `tryPass`,
 * it is reported and `admit` is called. After an error of `admit`, a poll or a cancel passes, because its job is paid, and the
 * error is reported; for a submission the job errors, because nothing was sent.
 */
export function guardGate(gate: Gate): Gate {
  const tryPass = gate.tryPass?.bind(gate);
  return {
    get ratePerSecond() {
      return gate.ratePerSecond;
    },
    admit: (...request) =>
      defer(() => gate.admit(...request)).pipe(
        catchError((error: unknown) => {
          if (request[0].kind === 'submit') throw error;
          reportUnhandled(error);
          return EMPTY;
        }),
      ),
    ...(tryPass !== undefined && {
      tryPass(request) {
        try {
          return tryPass(request);
        } catch (error) {
          reportUnhandled(error);
          return false;
        }
      },
    }),
    observe(answer) {
      try {
        gate.observe(answer);
      } catch (error) {
        reportUnhandled(error);
      }
    },
  };
}

/** Guards the random numbers of the user: without a number, waits are as long as they may be. The error is reported. */
export function guardRandom(random: () => number = Math.random): () => number {
  return () => {
    const number = callHook(random) ?? 1;
    return number >= 0 ? number : 1;
  };
}
