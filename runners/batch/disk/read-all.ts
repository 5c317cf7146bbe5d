import type { DiskFile } from './disk.js';

/** Fills `into` with the bytes from `position` on; a file that ends before is an error (EIO). */
export async function readAll(
  file: Pick<DiskFile, 'read'>,
  into: Uint8Array,
  position: number,
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const count = await file.read(into.subarray(done), position + done);
    if (count === 0)
      throw Object.assign(new Error(`the file ends at byte ${position + done}`), { code: 'EIO' });
    done += count;
  }
}
