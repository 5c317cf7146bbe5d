import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import type { CliIo } from './cli-io.js';

/** Whether a person is there to be asked. */
export function canAsk(io: Pick<CliIo, 'stdin' | 'stderr'>): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/** Asks a yes-or-no question on the terminal. Anything but yes is a no, and so is the end of the input; Ctrl-C interrupts. */
export async function ask(
  question: string,
  io: Pick<CliIo, 'stdin' | 'stderr'>,
): Promise<'yes' | 'no' | 'interrupted'> {
  const dialogue = createInterface({ input: io.stdin, output: io.stderr as unknown as Writable });
  const gone = new AbortController();
  let interrupted = false;
  dialogue.on('SIGINT', () => {
    interrupted = true;
    dialogue.close();
  });
  dialogue.on('close', () => gone.abort());
  try {
    const answer = await dialogue.question(`${question} [y/N] `, { signal: gone.signal });
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
  } catch {
    io.stderr.write('\n');
    return interrupted ? 'interrupted' : 'no';
  } finally {
    dialogue.close();
  }
}
