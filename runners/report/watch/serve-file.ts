import type { ServerResponse } from 'node:http';
import type { Disk } from '../../batch/disk/disk.js';

const types: Record<string, string> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  webp: 'image/webp',
};
const chunkBytes = 256 * 1024;

/** Sends a picture; what is none by its name, or no plain file, is not there. */
export async function serveFile(disk: Disk, path: string, response: ServerResponse): Promise<void> {
  const type = types[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  const found = type === undefined ? undefined : await disk.stat(path);
  if (type === undefined || found?.kind !== 'file') {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': type, 'content-length': found.size });
  const file = await disk.open(path, 'r');
  try {
    for (let at = 0; at < found.size && !response.destroyed;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, found.size - at));
      const count = await file.read(chunk, at);
      if (count === 0) break;
      if (!response.write(chunk.subarray(0, count))) await drained(response);
      at += count;
    }
  } finally {
    await file.close();
    response.end();
  }
}

/** Resolves as well when the reader has gone away. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
