import type { Downloaded } from '../../src/transport/got/download.js';
import { fault, pickFrom } from './broken-replies.js';
import { pictureOf } from './jobs.js';

/** Sends the picture that a URL names, or breaks by `chance`. */
export async function sendPicture(
  url: string,
  onChunk: (bytes: Uint8Array) => void | Promise<void>,
  { chance, random }: { chance: number; random: () => number },
): Promise<Downloaded> {
  const bytes = pictureOf(new URL(url).pathname.slice(1, -4));
  const headers = { 'content-length': String(bytes.length) };
  if (random() >= chance) {
    const half = bytes.length >> 1;
    await onChunk(bytes.subarray(0, half));
    await onChunk(bytes.subarray(half));
    return { status: 200, headers, bytes: bytes.length };
  }
  switch (pickFrom(['500', '403', 'reset', 'cut', 'html'] as const, random)) {
    case '500':
      return { status: 500, headers: {}, bytes: 0 };
    case '403':
      return { status: 403, headers: {}, bytes: 0 };
    case 'html':
      await onChunk(Buffer.from('<html>no picture here</html>'));
      return { status: 200, headers: {}, bytes: 28 };
    case 'cut':
      await onChunk(bytes.subarray(0, 60));
      return { status: 200, headers, bytes: 60 };
    case 'reset':
      await onChunk(bytes.subarray(0, 30));
      throw fault('reset', 'ECONNRESET', 'maybe');
  }
}
