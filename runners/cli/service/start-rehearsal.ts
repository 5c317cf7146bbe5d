import { missingSharp } from '../../emulator/edit/missing-sharp.js';
import { startEmulator } from '../../emulator/start-emulator.js';
import type { RunOptions } from '../options/parse-options.js';
import type { Target } from './service-settings.js';
import { resolve } from 'node:path';
import type { EmulatorOptions } from '../../emulator/settings/emulator-options.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { UsageError } from '../io/usage-error.js';
import type { OptionsOf } from '../options/option-table.js';

/** The emulator in this process, which also serves the pictures beside the manifest. */
export async function startRehearsal(options: RunOptions, folder: string, cwd: string): Promise<Target> {
  const { functions, workers, latency, faults, rateLimit, seed } = options;
  const settings = await emulatorSettings({ functions, workers, latency, faults, rateLimit, seed }, cwd);
  const editsNeed = missingSharp();
  const emulator = await startEmulator({ ...settings, files: folder });
  return {
    baseUrl: emulator.baseUrl,
    lbBaseUrl: emulator.lbBaseUrl,
    apiKey: emulator.apiKey,
    local: true,
    ...(editsNeed !== undefined && { editsNeed }),
    resolveImage: (path) => emulator.fileUrl(path),
    close: () => emulator.close(),
  };
}

/** The emulator's options. Throws `UsageError` if the functions module cannot be loaded. */
export async function emulatorSettings(
  flags: Omit<OptionsOf<'serve'>, 'port' | 'key'>,
  cwd: string,
): Promise<EmulatorOptions> {
  const { functions, ...settings } = flags;
  return { ...settings, ...(functions !== undefined && { functions: await load(resolve(cwd, functions)) }) };
}

async function load(file: string): Promise<NonNullable<EmulatorOptions['functions']>> {
  const { loadFunctions } = await import('../../emulator/settings/load-functions.js');
  try {
    return await loadFunctions(file);
  } catch (error) {
    if (isMillraceError(error)) throw new UsageError([`--functions: ${error.message}`]);
    throw error;
  }
}
