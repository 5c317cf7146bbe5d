import { resolve } from 'node:path';
import { nodeDisk, pictureFormat, shellWords } from '../../batch/formats.js';
import { writeStarterManifest } from '../../batch/internal.js';
import type { CommandCall } from '../io/cli-io.js';
import { commandOptions } from '../options/parse-options.js';
import { countOf, plainText, shownPath } from '../messages/plain-text.js';

const skippedShown = 20;

/** Writes a manifest of the pictures in a folder, and prints what to do with it. */
export async function initCommand({ args: [folder], raw, io }: CommandCall<[string]>): Promise<number> {
  const { prompt, out } = commandOptions('init', raw);
  const { path, pictures, skipped } = await writeStarterManifest({
    disk: nodeDisk,
    folder: resolve(io.cwd, folder),
    prompt,
    ...(out !== undefined && { manifest: resolve(io.cwd, out) }),
    formatOf: pictureFormat,
  });
  for (const { name, why } of skipped.slice(0, skippedShown))
    io.stderr.write(`left out: ${plainText(name)} ${why}\n`);
  if (skipped.length > skippedShown)
    io.stderr.write(`left out: ${countOf(skipped.length - skippedShown, 'other')}\n`);
  const name = shownPath(path, io.cwd);
  io.stdout.write(`${name}: ${countOf(pictures, 'picture')}\n`);
  const command = (word: string) => shellWords('millrace', word, name, '--endpoint', 'image-edit', '--local');
  io.stdout.write(
    [
      `Look at it, and check it with: ${command('plan')}`,
      `Rehearse it with: ${command('run')}`,
      'A service cannot read this folder: instead of --local, --images-base URL is the web address of its pictures,',
      'or --upload s3://bucket/prefix uploads them.',
      '',
    ].join('\n'),
  );
  return 0;
}
