import { execFileSync } from 'node:child_process';

/** A file system of 1 MB on a folder. It takes root on Linux: elsewhere there is a reason to skip the test. */
export type SmallDisk =
  { readonly unmount: () => void; readonly grow: () => void } | { readonly skip: string };

export function mountSmallDisk(folder: string): SmallDisk {
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    return { skip: 'a full file system: mount -t tmpfs takes root on Linux' };
  }
  return {
    // Lazily: what a failed test leaves open must not keep it.
    unmount: () => void execFileSync('/bin/umount', ['-l', folder]),
    grow: () => void execFileSync('/bin/mount', ['-o', 'remount,size=64m', folder]),
  };
}
