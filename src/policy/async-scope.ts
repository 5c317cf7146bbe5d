/**
 * A context of asynchronous calls, as that of `AsyncLocalStorage`: an `AsyncResource` of Node.js. Only the platform can create
 * one, because browsers have none.
 */
export interface AsyncScope {
  runInAsyncScope(work: () => void): void;
}
