import { createReadStream, createWriteStream } from 'node:fs';
import { access, constants, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { diskFaultAt, nodeDisk } from '../../batch/formats.js';
import type { CliIo } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';

/** A manifest in a file, which may have come from stdin. */
export type SpooledManifest = ManifestSource & {
  readonly path: string;
  /** For a manifest from stdin: its path in the run's folder, and the function that moves it there once the start is agreed to. */
  readonly keep?: { readonly path: string; readonly move: () => Promise<void> };
};

/**
 * Writes a manifest from stdin to a file, so that all of it can be checked before anything is sent. The file is outside the
 * run's folder, because a refused start must write nothing there. `discard` removes it unless it was moved. A manifest that is
 * a file already stays where it is. Throws `DiskFault`.
 */
export async function spoolInput(
  source: ManifestSource,
  out: string,
  io: Pick<CliIo, 'stdin'>,
): Promise<{ readonly source: SpooledManifest; readonly discard: () => Promise<void> }> {
  if (source.path !== undefined)
    return { source: { ...source, path: source.path }, discard: () => Promise.resolve() };
  const kept = join(out, `manifest.${source.format}`);
  const path = await draftPath(out, source.format);
  const discard = (): Promise<void> => rm(path, { force: true }).catch(() => undefined);
  const move = (): Promise<void> => moveFile(path, kept).catch(diskFaultAt(out));
  try {
    await pipeline(io.stdin, createWriteStream(path, { mode: 0o600, flush: true })).catch(
      diskFaultAt(dirname(path)),
    );
  } catch (error) {
    await discard();
    throw error;
  }
  return { source: { ...source, path, keep: { path: kept, move } }, discard };
}

/** The nearest existing folder above the run's, so that moving copies nothing; otherwise the system's temporary folder. */
async function draftPath(out: string, format: string): Promise<string> {
  let above = dirname(out);
  while (above !== dirname(above) && (await stat(above).catch(() => undefined)) === undefined)
    above = dirname(above);
  const folder = await access(above, constants.W_OK).then(
    () => above,
    () => tmpdir(),
  );
  return join(folder, `.${basename(out)}.stdin.${process.pid}.${format}`);
}

async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const draft = join(dirname(to), `manifest.${process.pid}.tmp`);
    await pipeline(createReadStream(from), createWriteStream(draft, { mode: 0o600, flush: true }));
    await rename(draft, to);
    await rm(from, { force: true });
  });
  await nodeDisk.syncFolder(dirname(to));
}
