import { describeFault } from '../stop/describe-fault.js';
import type { Run } from './run.js';

/** Writes what was learned of run times. A disk that refuses costs the next start some status calls, and no row. */
export async function keepPollLaw({ pollLaw, log }: Run): Promise<void> {
  await pollLaw.keep().catch((error: unknown) => {
    log.write('warn', { err: describeFault(error) }, 'poll-law.json could not be written');
  });
}
