/**
 * Holds chunks back until one has a line break in it, so that a line of megabytes is looked at once and not again with
 * each chunk. Holds no more than `maxBytes`: the rest is for its reader to refuse.
 */
export async function* joinLongLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= maxBytes && !chunk.includes(10) && !chunk.includes(13)) continue;
    yield held.length === 1 ? chunk : Buffer.concat(held, bytes);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}
