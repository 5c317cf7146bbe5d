import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '../../../src/contract/millrace-error.js';
import { EmulatorOptionError } from './emulator-option-error.js';
import type { UserFunctions } from './user-functions.js';
import { checkEndpointId, checkRoutePath } from '../../../src/contract/request-parts.js';

/**
 * Imports a module of functions from a path, relative to the working directory.
 * @throws EmulatorOptionError if it is missing, does not load or has the wrong form
 */
export async function loadFunctions(file: string): Promise<UserFunctions> {
  return checkFunctions(await importModule(file), file);
}

async function importModule(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (cause) {
    const why = errorText(cause);
    throw new EmulatorOptionError(`the functions module ${file} does not load: ${why}`, { cause });
  }
}

/** The endpoint that always exists. */
export const imageEditId = 'image-edit';

/**
 * Checks the functions of a module or an option.
 * @throws EmulatorOptionError that names the export and its problem
 */
export function checkFunctions(exported: unknown, source: string): UserFunctions {
  const { queue, routes } = (exported ?? {}) as Record<string, unknown>;
  if (queue === undefined && routes === undefined)
    throw new EmulatorOptionError(
      `${source} exports neither "queue" nor "routes": export const queue = { 'my-endpoint': (input) => … }`,
    );
  checkEach(queue, `${source}: queue`, queueIdProblem);
  checkEach(routes, `${source}: routes`, routeProblem);
  return { ...(queue !== undefined && { queue }), ...(routes !== undefined && { routes }) } as UserFunctions;
}

function checkEach(group: unknown, where: string, problemOf: (name: string) => string | undefined): void {
  if (group === undefined) return;
  if (typeof group !== 'object' || group === null)
    throw new EmulatorOptionError(`${where} is not an object of functions`);
  for (const [name, value] of Object.entries(group)) {
    const problem = problemOf(name) ?? (typeof value === 'function' ? undefined : 'is not a function');
    if (problem !== undefined) throw new EmulatorOptionError(`${where}[${JSON.stringify(name)}] ${problem}`);
  }
}

function queueIdProblem(id: string): string | undefined {
  return id === imageEditId ? 'is the built-in endpoint: take another id' : checkEndpointId(id);
}

function routeProblem(name: string): string | undefined {
  const [, path] = /^(?:GET|POST) (\/.*)$/.exec(name) ?? [];
  if (path === undefined) return 'is not of the form "GET /path" or "POST /path"';
  return path.includes('?') ? 'has a query in its path' : checkRoutePath(path);
}
