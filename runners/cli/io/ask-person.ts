import { createInterface } from 'node:readline/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { CliIo } from './cli-io.js';

/** Whether stdin and stderr are a terminal, so that a person can be asked. */
export function canAsk(io: Pick<CliIo, 'stdin' | 'stderr'>): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/**
 * Asks a yes-or-no question on the terminal. Any answer but yes, and the end of input, mean `no`. Ctrl-C or `stopped` gives
 * `interrupted`. What was typed before the question is no answer to it, and is dropped.
 */
export async function ask(
  question: string,
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'yes' | 'no' | 'interrupted'> {
  const dialogue = createInterface({ input: io.stdin, output: io.stderr as unknown as Writable });
  const interrupted = new AbortController();
  const gone = new AbortController();
  dialogue.on('SIGINT', () => interrupted.abort());
  // A closing terminal ends the input and sends a signal at the same time: the delay lets the signal win, because it says more.
  for (const end of ['close', 'error']) dialogue.on(end, () => setImmediate(() => gone.abort()));
  const signal = AbortSignal.any([
    interrupted.signal,
    gone.signal,
    ...(stopped === undefined ? [] : [stopped]),
  ]);
  try {
    // The terminal's input is read while the event loop polls, which it has done once by the second turn.
    for (let turn = 0; turn < 2; turn++) await nextTurn();
    dialogue.write('', { ctrl: true, name: 'u' });
    const answer = await dialogue.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
  } catch {
    io.stderr.write('\n');
    return interrupted.signal.aborted || stopped?.aborted === true ? 'interrupted' : 'no';
  } finally {
    dialogue.close();
  }
}
