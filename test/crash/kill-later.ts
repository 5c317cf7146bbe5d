import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';

const lookEveryMs = 5;

export interface Life {
  /** Counted from its birth, or from when it has begun to work. */
  readonly ms: number;
  /**
   * A file that grows when the process begins to work: only then is its life counted. On a slow machine a process may
   * need all of its life to start, and a kill would hit nothing that is on its way.
   */
  readonly from?: string;
}

/** Kills a process with -9 when its life is over, and tells how it ended, and whether it had begun to work by then. */
export async function killLater(
  child: ChildProcess,
  { ms, from }: Life,
): Promise<{ code: number | null; signal: string | null; worked: boolean }> {
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const before = await sizeOf(from);
  let worked = false;
  if (from !== undefined) {
    while (child.exitCode === null && child.signalCode === null && !worked) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      worked = (await sizeOf(from)) > before;
    }
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const [code, signal] = await ended;
  clearTimeout(timer);
  return { code, signal, worked };
}

async function sizeOf(path: string | undefined): Promise<number> {
  return path === undefined ? 0 : ((await stat(path).catch(() => undefined))?.size ?? 0);
}
