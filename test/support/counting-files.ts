import type { Disk } from '../../runners/batch/disk/disk.js';

/** The same disk, and how many of its files are open: one that nobody closes is a leak of a descriptor. */
export function countingFiles(inner: Disk): { readonly disk: Disk; readonly open: () => number } {
  let open = 0;
  const disk: Disk = {
    open: async (path, flags) => {
      const file = await inner.open(path, flags);
      open++;
      return {
        read: (into, position) => file.read(into, position),
        write: (bytes, position) => file.write(bytes, position),
        sync: () => file.sync(),
        truncate: (size) => file.truncate(size),
        size: () => file.size(),
        close: () => {
          open--;
          return file.close();
        },
        ...(file.id && { id: () => file.id?.() ?? Promise.resolve(undefined) }),
      };
    },
    rename: (from, to) => inner.rename(from, to),
    unlink: (path) => inner.unlink(path),
    mkdir: (path) => inner.mkdir(path),
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
    realPath: (path) => inner.realPath(path),
    syncFolder: (path) => inner.syncFolder(path),
  };
  return { disk, open: () => open };
}
