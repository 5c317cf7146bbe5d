import { finished, type Writable } from 'node:stream';

/**
 * Hands chunk after chunk to a parser that gathers what it finds into a batch, and yields what each chunk brought. The
 * next chunk is pulled when the batch has been used: nothing waits in a queue, and a record costs no event.
 */
export async function* feed<T>(
  chunks: AsyncIterable<Uint8Array>,
  parser: Writable,
  takeBatch: () => T[],
): AsyncGenerator<T[]> {
  // The error arrives with the write that caused it.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of chunks) {
      const error = await write(parser, chunk);
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

type Failure = Error | null | undefined;

function write(parser: Writable, chunk: Uint8Array): Promise<Failure> {
  return new Promise((resolve) => parser.write(chunk, resolve));
}

function end(parser: Writable): Promise<Failure> {
  return new Promise((resolve) => {
    finished(parser, { readable: false }, resolve);
    parser.end();
  });
}
