import type { ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';

const types: Record<string, string> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  mkv: 'video/x-matroska',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pdf: 'application/pdf',
};
const chunkBytes = 256 * 1024;

/** Sends a plain file; from other folders than `files`, only pictures. A file that no browser can show is sent as a download. */
export async function serveFile(
  disk: Disk,
  path: string,
  response: ServerResponse,
  range?: string,
): Promise<void> {
  const known = types[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  const isSaved = known === undefined && basename(dirname(path)) === 'files';
  const type = isSaved ? 'application/octet-stream' : known;
  const found = type === undefined ? undefined : await disk.stat(path);
  if (type === undefined || found?.kind !== 'file') {
    response.writeHead(404).end();
    return;
  }
  const part = partOf(range, found.size);
  const { from, to } = part ?? { from: 0, to: found.size };
  if (from >= to && part !== undefined) {
    response.writeHead(416, { 'content-range': `bytes */${found.size}` }).end();
    return;
  }
  response.writeHead(part === undefined ? 200 : 206, {
    'content-type': type,
    'content-length': to - from,
    'accept-ranges': 'bytes',
    ...(part && { 'content-range': `bytes ${from}-${to - 1}/${found.size}` }),
    ...(isSaved && { 'content-disposition': 'attachment' }),
  });
  const file = await disk.open(path, 'r');
  try {
    for (let at = from; at < to && !response.destroyed;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
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

/** The bytes of a single range, from `from` until before `to`; for several ranges or an invalid one, the whole file. (RFC 9110, 14) */
function partOf(range: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return { from: Math.max(0, size - Number(last)), to: size };
  return { from: Number(first), to: last === '' ? size : Math.min(size, Number(last) + 1) };
}

/** Resolves when the response can be written to again, or its reader has gone away. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
