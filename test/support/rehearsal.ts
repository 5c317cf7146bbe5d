import { startEmulator, type Emulator, type EmulatorOptions } from '../../runners/emulator/index.js';
import { millrace, startMillrace, type MillraceEnd, type MillraceProcess } from './millrace.js';
import { openWorkplace, type Workplace } from './workplace.js';

/** A folder, and a service that serves the pictures in it, for one test of the command line. */
export interface Rehearsal extends Workplace {
  readonly emulator: Emulator;
  readonly env: Record<string, string>;
  /** Calls the command line in this process, in the folder, with the service and its key in the environment. */
  call(...args: string[]): Promise<MillraceEnd>;
  /** The same as a process of its own. */
  start(...args: string[]): MillraceProcess;
  close(): Promise<void>;
}

/** So many jobs that the emulator echoes. */
export function echoJobs(count: number, input: object = {}): string[] {
  return Array.from({ length: count }, (_, n) =>
    JSON.stringify({ id: `j${n}`, endpoint: 'echo', input: { n, ...input } }),
  );
}

export async function openRehearsal(options: EmulatorOptions = {}): Promise<Rehearsal> {
  const work = await openWorkplace();
  const emulator = await startEmulator({ key: 'a-key-of-ours', files: work.folder, ...options });
  const env = {
    MILLRACE_API_KEY: emulator.apiKey,
    MILLRACE_BASE_URL: emulator.baseUrl,
    MILLRACE_LB_BASE_URL: emulator.lbBaseUrl,
  };
  return {
    ...work,
    emulator,
    env,
    call: (...args) => millrace(args, { cwd: work.folder, env }),
    start: (...args) => startMillrace(args, { cwd: work.folder, env }),
    async close() {
      await emulator.close();
      await work.remove();
    },
  };
}
