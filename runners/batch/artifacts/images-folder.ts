import type { Disk } from '../disk/disk.js';
import { DiskFault, onDisk } from '../disk/disk-fault.js';

/** The folder of pictures, within the output folder. */
export const imagesFolder = 'images';

/** Makes the folder of pictures; true: there was none. Refuses a link in its place, since it may lead anywhere. */
export async function openImagesFolder(disk: Disk, folder: string): Promise<boolean> {
  const path = `${folder}/${imagesFolder}`;
  return onDisk(path, async () => {
    const found = await disk.stat(path);
    if (found === undefined) {
      await disk.mkdir(path);
      await disk.syncFolder(folder);
      return true;
    }
    if (found.kind !== 'folder') {
      const what = found.kind === 'link' ? 'a symbolic link' : 'no folder';
      throw new DiskFault(
        path,
        'ENOTDIR',
        new Error(`it is ${what}, and pictures are saved in a folder of that name`),
      );
    }
    return false;
  });
}
