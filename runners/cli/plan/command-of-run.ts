import { nodeDisk } from '../../batch/formats.js';
import {
  anotherFolder,
  runAgainCommand,
  type OfManifest,
  type RunCommand,
  type StartFacts,
} from '../../report/messages/run-again.js';
import type { CliIo } from '../io/cli-io.js';
import { shownPath } from '../messages/plain-text.js';

/** How commands name the run of a folder, from its first and its last start; `undefined` if it has none. */
export async function commandOfRun(
  folder: string,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<RunCommand | undefined> {
  const { readStory } = await import('../../report/survey/run-story.js');
  const { starts } = await readStory(nodeDisk, folder);
  const last = starts.at(-1);
  return last && commandOfStarts(starts, last, folder, (path) => shownPath(path, cwd));
}

/** @param shown how the command writes a path */
export async function commandOfStarts(
  starts: readonly StartFacts[],
  last: StartFacts,
  folder: string,
  shown: (path: string) => string,
): Promise<RunCommand> {
  const folders = { folder: shown(folder), another: shown(await anotherFolder(nodeDisk, folder)) };
  const command = runAgainCommand(starts, last, folders);
  const inWords = <T extends OfManifest>(one: T): T => ({
    ...one,
    ...(one.manifest !== '' && { manifest: shown(one.manifest) }),
  });
  const { latest, others } = command;
  return {
    ...inWords(command),
    ...(latest && { latest: inWords(latest) }),
    ...(others && { others: new Map([...others].map(([path, one]) => [path, inWords(one)])) }),
  };
}
