import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('../../.config/run-ts.mjs', import.meta.url));

/** Arguments for node that run a TypeScript file of the tests in a process of its own. */
export function asScript(file: URL): readonly string[] {
  return [runner, fileURLToPath(file)];
}
