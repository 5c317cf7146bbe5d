import type { ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';

const types: Record<string, string> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  ...{ mp4: 'video/mp4', webm: 'video/webm', mov: 'video/quicktime', mkv: 'video/x-matroska' },
  ...{
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    m4a: 'audio/mp4',
    ogg: 'audio/ogg',
    flac: 'audio/flac',
    aac: 'audio/aac',
  },
  pdf: 'application/pdf',
};
const chunkBytes = 256 * 1024;

/** Sends a file, of another folder than `files` only pictures; what is no plain file is not there. What no browser shows is saved. */
export async function serveFile(disk: Disk, path: string, response: ServerResponse): Promise<void> {
  const known = types[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  const isSaved = known === undefined && basename(dirname(path)) === 'files';
  const type = isSaved ? 'application/octet-stream' : known;
  const found = type === undefined ? undefined : await disk.stat(path);
  if (type === undefined || found?.kind !== 'file') {
    response.writeHead(404).end();
    return;
  }
  const saved = isSaved ? { 'content-disposition': 'attachment' } : {};
  response.writeHead(200, { 'content-type': type, 'content-length': found.size, ...saved });
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
