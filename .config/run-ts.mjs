// Runs a TypeScript script of the project: `node .config/run-ts.mjs path/to/script.ts [arguments]`.
import { mkdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [script, ...rest] = process.argv.slice(2);
if (script === undefined) throw new Error('which script? node .config/run-ts.mjs path/to/script.ts');
const folder = resolve('node_modules/.cache/scripts');
mkdirSync(folder, { recursive: true });
const outfile = `${folder}/${basename(script, '.ts')}-${process.pid}.mjs`;
await build({
  entryPoints: [script],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'error',
});
process.argv = [process.argv[0], resolve(script), ...rest];
await import(pathToFileURL(outfile).href);
