import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { shownPath } from '../messages/plain-text.js';
import type { CliIo, FaultContext } from './cli-io.js';

/**
 * Runs `work`, and writes a CPU profile of it: `NAME.cpuprofile` in the run's folder, or in the current one when the
 * command opened none. It is written at the end, also of work that failed or was interrupted; speedscope, the
 * developer tools of Chrome and editors show it as a flame graph. It samples once a millisecond and takes some 5 MB
 * of memory a minute.
 */
export async function profiled<T>(
  name: string,
  work: () => Promise<T>,
  io: Pick<CliIo, 'stderr' | 'cwd'>,
  fault: Pick<FaultContext, 'folder'>,
): Promise<T> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  try {
    return await work();
  } finally {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const path = join(fault.folder ?? io.cwd, `${name}.cpuprofile`);
    await writeFile(path, JSON.stringify(profile)).then(
      () => io.stderr.write(`profile: ${shownPath(path, io.cwd)}\n`),
      // The profiled work is done: a profile that cannot be written changes nothing.
      (error: unknown) => io.stderr.write(`profile: not written: ${(error as Error).message}\n`),
    );
  }
}
