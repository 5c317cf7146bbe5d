import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { shownPath } from '../messages/plain-text.js';
import type { CliIo, FaultContext } from './cli-io.js';

/**
 * Runs `work`, and writes a CPU profile of it at its end, even if it fails or is interrupted: `NAME.cpuprofile` in the run's
 * folder, or in the current one if the command opened none. speedscope, Chrome's developer tools and editors show it as a flame
 * graph. It samples once a millisecond and takes about 5 MB of memory per minute.
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
      // A profile that cannot be written does not change the result of the work.
      (error: unknown) => io.stderr.write(`profile: not written: ${(error as Error).message}\n`),
    );
  }
}
