import type { ForgetfulDisk } from '../support/forgetful-disk.js';

/** What somebody else does to the files of a run while it goes on. */
export const meddlings = [
  /** Rows are appended. They wait for the next start. */
  'manifest-appended',
  /** Bytes change in place: later rows have other ids and requests. */
  'manifest-edited',
  'manifest-replaced',
  'manifest-cut',
  'manifest-removed',
  /** It is replaced by a copy of itself, which is nothing wrong. */
  'manifest-copied',
] as const;

export type Meddling = (typeof meddlings)[number];

/** Those that random schedules play unless they are asked for others. */
export const playedMeddlings: readonly Meddling[] = meddlings;

/** Nothing of what the start has read and is going to read is another thing after it. */
export const harmless: ReadonlySet<Meddling> = new Set(['manifest-appended', 'manifest-copied']);

/** @param text The manifest as it stands; rows are named `job-3`, `edit-4`, `route-6`. */
export function meddleWithManifest(disk: ForgetfulDisk, path: string, what: Meddling, text: string): void {
  const half = text.indexOf('\n', text.length / 2) + 1;
  const foreign = text.replace(/(job|edit|route)-(?=\d)/g, (name) => name.toUpperCase());
  switch (what) {
    case 'manifest-appended':
      return disk.overwrite(path, text);
    case 'manifest-edited':
      return disk.overwrite(path, text.slice(0, half) + foreign.slice(half));
    case 'manifest-replaced':
      return disk.plant(path, foreign);
    case 'manifest-cut':
      return disk.overwrite(path, text.slice(0, half));
    case 'manifest-removed':
      return disk.drop(path);
    case 'manifest-copied':
      return disk.plant(path, text);
  }
}
