import { appendFileSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { TempFolder } from '../pictures/temp-folder.js';
import { readLines } from './read-lines.js';

/** What was accepted once, what became of it, and what it costs. */
export interface BillLine {
  id: string;
  /** The endpoint's id; of a route its method and path. */
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

/** The lines that nothing can change any more. */
export interface Bill {
  close(line: BillLine): void;
  /** All lines so far, as JSON texts. */
  lines(): Iterable<string>;
  dispose(): void;
}

const chunkBytes = 256 * 1024;

/** Keeps closed lines in a file, so that a million of them take no memory. */
export function createBill(folder: TempFolder): Bill {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let file: { path: string; handle: number } | undefined;

  const flush = (): void => {
    const path = join(folder.path(), 'bill.jsonl');
    file ??= { path, handle: openSync(path, 'a') };
    appendFileSync(file.handle, waiting.map((line) => `${line}\n`).join(''));
    waiting = [];
    waitingBytes = 0;
  };

  return {
    close(line) {
      const text = JSON.stringify(line);
      waiting.push(text);
      waitingBytes += text.length;
      if (waitingBytes >= chunkBytes) flush();
    },
    *lines() {
      const rest = [...waiting];
      if (file !== undefined) yield* readLines(file.path);
      yield* rest;
    },
    dispose() {
      if (file !== undefined) closeSync(file.handle);
      file = undefined;
      waiting = [];
    },
  };
}
