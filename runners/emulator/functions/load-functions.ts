import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmulatorOptionError } from '../emulator-option-error.js';
import { checkFunctions } from './check-functions.js';
import type { UserFunctions } from './user-functions.js';

/**
 * Imports a module of functions from a path, relative to the working directory.
 * @throws EmulatorOptionError when it is missing, does not load or has another form
 */
export async function loadFunctions(file: string): Promise<UserFunctions> {
  return checkFunctions(await importModule(file), file);
}

async function importModule(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EmulatorOptionError(`the functions module ${file} does not load: ${why}`, { cause });
  }
}
