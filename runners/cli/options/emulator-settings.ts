import { resolve } from 'node:path';
import type { EmulatorOptions } from '../../emulator/settings/emulator-options.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { UsageError } from '../io/usage-error.js';
import type { EmulatorFlags } from './emulator-flags.js';

/** What the emulator is started with. Throws `UsageError` when the functions module cannot be used. */
export async function emulatorSettings(flags: EmulatorFlags, cwd: string): Promise<EmulatorOptions> {
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
