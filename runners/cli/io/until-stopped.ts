import type { CliIo } from './cli-io.js';

/** Resolves at the first signal; a second one then ends the process as it always does. */
export function untilStopped(io: Pick<CliIo, 'onStop'>): Promise<void> {
  return new Promise((resolve) => {
    const ignore = io.onStop(() => {
      ignore();
      resolve();
    });
  });
}
