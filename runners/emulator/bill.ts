import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { MicroDollars } from '../../src/contract/micro-dollars.js';
import type { TempFolder } from './temp-folder.js';

/** One line of the bill: an accepted request, how it ended, and its cost. */
export interface BillLine {
  id: string;
  /** The endpoint's id, or a route's method and path. */
  endpoint: string;
  operation: 'run' | 'runsync' | 'route';
  input: unknown;
  status: string;
  /** How often the function was started. */
  executions: number;
  /** Millionths of a dollar; 0 unless it completed. */
  costMicroDollars: MicroDollars;
  /** Milliseconds since 1970. */
  submittedAt: number;
}

/** The closed lines, which can no longer change. */
export interface Bill {
  close(line: BillLine): void;
  /** All lines so far, as JSON texts. @throws Error if some could not be written */
  lines(): Iterable<string>;
  dispose(): void;
}

const chunkBytes = 256 * 1024;

/** Keeps closed lines in a file, so that a million of them take no memory. */
export function createBill(folder: TempFolder): Bill {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let file: { path: string; handle: number } | undefined;
  let broken: unknown;
  let isOver = false;
  let wasFlushed = false;

  const flush = (): void => {
    wasFlushed = true;
    try {
      file ??= openFile(join(folder.path(), 'bill.jsonl'));
      appendFileSync(file.handle, waiting.map((line) => `${line}\n`).join(''));
    } catch (error) {
      broken ??= error;
    }
    waiting = [];
    waitingBytes = 0;
  };

  return {
    close(line) {
      if (isOver) return;
      const text = JSON.stringify(line);
      waiting.push(text);
      waitingBytes += text.length;
      if (waitingBytes >= chunkBytes) flush();
    },
    *lines() {
      if (broken !== undefined) throw new Error('a part of the bill is lost', { cause: broken });
      if (isOver && wasFlushed) throw new Error('the bill went with the emulator that was closed');
      const rest = [...waiting];
      if (file !== undefined) yield* readLines(file.path);
      yield* rest;
    },
    dispose() {
      isOver = true;
      if (file !== undefined) closeSync(file.handle);
      file = undefined;
    },
  };
}

function openFile(path: string): { path: string; handle: number } {
  return { path, handle: openSync(path, 'a') };
}

const blockBytes = 256 * 1024;

/** The lines of a file at this moment, read block by block. */
function* readLines(path: string): Iterable<string> {
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
