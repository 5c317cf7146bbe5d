import { maxRecordBytes } from './records/raw-record.js';

/** A line that cannot be read as text: it becomes a row that is wrong. */
export class BrokenLine {
  constructor(readonly problem: string) {}
}

const newline = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of an endless NDJSON stream, each as soon as its line break is there; blank ones are passed over. Holds one
 * line and what the stream hands over at once, whatever comes. A line that is too long or no UTF-8 ends nothing.
 */
export async function* readLiveLines(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | BrokenLine, void, void> {
  let held: Uint8Array[] = [];
  let size = 0;
  const take = (): string | BrokenLine | undefined => {
    const line = size > maxRecordBytes ? new BrokenLine('is longer than 10 MB') : textOf(held);
    held = [];
    size = 0;
    return typeof line === 'string' && line.trim() === '' ? undefined : line;
  };
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(newline, at);
      const piece = chunk.subarray(at, end < 0 ? chunk.length : end);
      size += piece.length;
      if (size <= maxRecordBytes) held.push(piece);
      else held = [];
      at += piece.length + 1;
      const line = end < 0 ? undefined : take();
      if (line !== undefined) yield line;
    }
  }
  const last = take();
  if (last !== undefined) yield last;
}

function textOf(pieces: readonly Uint8Array[]): string | BrokenLine {
  try {
    return utf8.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  } catch {
    return new BrokenLine('is no UTF-8 text');
  }
}
