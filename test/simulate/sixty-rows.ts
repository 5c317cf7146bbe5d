import type { CrashSettings } from './crash-everywhere.js';

/** A run of all kinds of rows. Without thumbnails, which nothing depends on: they would be a third of all calls. */
export const sixtyRows: CrashSettings = {
  seed: 1,
  rows: 60,
  format: 'jsonl',
  options: { concurrency: 16, makeThumbnail: () => Promise.resolve(undefined) },
};
