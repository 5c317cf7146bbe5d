import { dirname, resolve } from 'node:path';
import type { Survey } from '../survey/survey-run.js';

/** Where the manifests of the run's starts lay: a relative path is from where a start was made, which is here or beside the output. */
export function manifestFoldersOf({ story, folder }: Pick<Survey, 'story' | 'folder'>): string[] {
  const beside = dirname(resolve(folder));
  const folders = story.starts.flatMap(({ manifest }) => [
    resolve(dirname(manifest)),
    resolve(beside, dirname(manifest)),
  ]);
  return [...new Set([...folders, beside])];
}
