import { maxRecordBytes } from './records/raw-record.js';

/** A line that cannot be read as text: it becomes an invalid row. */
export class BrokenLine {
  constructor(readonly problem: string) {}
}

const newline = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of an endless NDJSON stream, blank ones too, each as soon as its line break arrives. Keeps at most one line and one
 * chunk in memory. A line that is too long or not UTF-8 becomes a `BrokenLine`, and reading continues.
 */
export async function* readLiveLines(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | BrokenLine, void, void> {
  let held: Uint8Array[] = [];
  let size = 0;
  const take = (): string | BrokenLine => {
    const line = size > maxRecordBytes ? new BrokenLine('is longer than 10 MB') : textOf(held);
    held = [];
    size = 0;
    return line;
  };
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(newline, at);
      const part = chunk.subarray(at, end < 0 ? chunk.length : end);
      size += part.length;
      if (size <= maxRecordBytes) held.push(part);
      else held = [];
      at += part.length + 1;
      if (end >= 0) yield take();
    }
  }
  if (size > 0) yield take();
}

function textOf(parts: readonly Uint8Array[]): string | BrokenLine {
  try {
    return utf8.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  } catch {
    return new BrokenLine('is not UTF-8 text');
  }
}
