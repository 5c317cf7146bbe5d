import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const blockBytes = 256 * 1024;

/** The lines that a file of whole lines holds at this moment, read block by block. */
export function* readLines(path: string): Iterable<string> {
  const handle = openSync(path, 'r');
  try {
    const end = fstatSync(handle).size;
    const decoder = new StringDecoder('utf8');
    const block = Buffer.alloc(blockBytes);
    let rest = '';
    for (let at = 0; at < end;) {
      const count = readSync(handle, block, 0, Math.min(blockBytes, end - at), at);
      at += count;
      const lines = (rest + decoder.write(block.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    closeSync(handle);
  }
}
