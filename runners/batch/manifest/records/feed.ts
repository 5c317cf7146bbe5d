import { finished, type Writable } from 'node:stream';

/**
 * Writes chunks to a parser that collects records in a batch, and yields the batch of each chunk. The next chunk is pulled when
 * the batch is used up: nothing waits in a queue, and there is no event per record.
 */
export async function* feed<T>(
  chunks: AsyncIterable<Uint8Array>,
  parser: Writable,
  takeBatch: () => T[],
): AsyncGenerator<T[]> {
  // `write` and `end` return the error.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of chunks) {
      const error = await new Promise<Error | null | undefined>((resolve) => parser.write(chunk, resolve));
      const batch = takeBatch();
      if (batch.length > 0) yield batch;
      if (error) throw error;
    }
    const error = await end(parser);
    const batch = takeBatch();
    if (batch.length > 0) yield batch;
    if (error) throw error;
  } finally {
    parser.destroy();
  }
}

function end(parser: Writable): Promise<Error | null | undefined> {
  return new Promise((resolve) => {
    finished(parser, { readable: false }, resolve);
    parser.end();
  });
}
