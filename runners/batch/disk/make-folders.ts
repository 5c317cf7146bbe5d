import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. One that is there already will do. Node's own `recursive` tries for ever where a file
 * system refuses a new folder with ENOENT, as /proc does.
 *
 * @throws the disk's error, ENOENT included
 */
export async function makeFolders(path: string): Promise<void> {
  const error = await refusal(path);
  if (error === undefined) return;
  const above = dirname(path);
  if (error.code !== 'ENOENT' || above === path) throw error;
  await makeFolders(above);
  const second = await refusal(path);
  if (second !== undefined) throw second;
}

async function refusal(path: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path);
    return undefined;
  } catch (error) {
    const refused = error as NodeJS.ErrnoException;
    const isThere = refused.code === 'EEXIST' && (await stat(path)).isDirectory();
    return isThere ? undefined : refused;
  }
}
