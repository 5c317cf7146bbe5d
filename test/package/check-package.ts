import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import freshBuild from '../support/fresh-build.js';
import { findNode, type OtherNode } from './find-node.js';

// npm run test:package [22] [24] …: packs millrace, installs it into an empty project under this Node and each one named,
// and uses it there as somebody would who has nothing else: library, types, command line, the missing optional packages.
const maxOwnBytes = 800_000;
const project = resolve('.');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-package-')));
freshBuild();
try {
  const tarball = pack();
  for (const node of [undefined, ...process.argv.slice(2)].map(findNode)) {
    const folder = emptyProject(node);
    install(node, folder, [tarball]);
    useLibrary(node, folder);
    checkTypes(node, folder);
    askForMissing(node, folder);
    install(node, folder, ['sharp', 'undici'].map(asHere));
    runSample(node, folder);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function pack(): string {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string; size: number; entryCount: number }];
  const own = Math.round(packed.size - packedFromOthers());
  print(
    `packed: ${packed.size} bytes in ${packed.entryCount} files, ${own} of them our own (at most ${maxOwnBytes})`,
  );
  if (own > maxOwnBytes) throw new Error(`our own part has ${own} bytes packed, more than ${maxOwnBytes}`);
  return join(scratch, packed.filename);
}

/** What is bundled and not ours, packed: of each file of the command line its dependencies' share, and the report's fonts. */
function packedFromOthers(): number {
  const style = readFileSync('dist/runners/report/page/bundle.css', 'utf8');
  const fonts = [...style.matchAll(/base64,([\w+/=]+)/g)].map(([, data]) => data).join('');
  if (fonts.length === 0) throw new Error('the report has no fonts in its style sheet');
  const { outputs } = JSON.parse(readFileSync('node_modules/.cache/command-line.json', 'utf8')) as Metafile;
  return Object.entries(outputs).reduce((sum, [path, { bytes, inputs }]) => {
    const others = Object.entries(inputs).filter(([name]) => name.includes('node_modules/'));
    const theirs = others.reduce((total, [, { bytesInOutput }]) => total + bytesInOutput, 0);
    return sum + (gzipSync(readFileSync(path)).length * theirs) / bytes;
  }, gzipSync(fonts).length);
}

interface Metafile {
  readonly outputs: Record<string, { bytes: number; inputs: Record<string, { bytesInOutput: number }> }>;
}

function emptyProject(node: OtherNode): string {
  const folder = join(scratch, `on-${node.version}`);
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  print(`node ${node.version}`);
  return folder;
}

function install(node: OtherNode, folder: string, packages: readonly string[]): void {
  run(node, folder, 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages]);
  print(`  installed ${packages.map((name) => (name.startsWith('/') ? 'millrace' : name)).join(', ')}`);
}

function useLibrary(node: OtherNode, folder: string): void {
  writeFileSync(
    join(folder, 'use.mjs'),
    `import { createClient, toOutcome } from 'millrace';
import { runBatch } from 'millrace/batch';
import { startEmulator } from 'millrace/emulator';
import { firstValueFrom } from 'rxjs';
const emulator = await startEmulator();
const echo = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl }).queue('echo');
const outcome = await firstValueFrom(echo.run({ text: 'packed' }).pipe(toOutcome()));
await emulator.close();
console.log(JSON.stringify([outcome.status, outcome.output, typeof runBatch]));
`,
  );
  const printed = run(node, folder, 'node', ['use.mjs']).trim();
  expect(printed, '["completed",{"echo":{"text":"packed"}},"function"]');
  print('  library, batch and emulator: imported, a job done');
}

function checkTypes(node: OtherNode, folder: string): void {
  writeFileSync(
    join(folder, 'types.ts'),
    `import { createClient, toOutput, type Outcome } from 'millrace';
import { runBatch, type RunEvent } from 'millrace/batch';
import { startEmulator } from 'millrace/emulator';
import { z } from 'zod';
const client = createClient({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1' });
const sums = client.queue('sum', { input: z.object({ a: z.number() }), output: z.object({ sum: z.number() }) });
sums.run({ a: 1 }).pipe(toOutput()).subscribe(({ sum }: { sum: number }) => sum);
// @ts-expect-error the input is typed by its schema
sums.run({ a: 'one' });
export type Ended = Extract<RunEvent, { type: 'ended' }>;
export const failed = (outcome: Outcome<unknown>): outcome is Extract<typeof outcome, { status: 'failed' }> =>
  outcome.status === 'failed';
void [runBatch, startEmulator];
`,
  );
  const tsc = resolve(project, 'node_modules/typescript/bin/tsc');
  const typeRoots = resolve(project, 'node_modules/@types');
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023',
    '--types',
    'node',
  ];
  run(node, folder, 'node', [tsc, ...options, '--typeRoots', typeRoots, 'types.ts']);
  print('  types: strict, with every declaration file checked, without those of browsers');
}

/** Without the optional packages each command that needs one says the line that brings it. */
function askForMissing(node: OtherNode, folder: string): void {
  cpSync(join(project, 'samples/edits.csv'), join(folder, 'edits.csv'));
  cpSync(join(project, 'samples/pictures'), join(folder, 'pictures'), { recursive: true });
  const plan = millrace(node, folder, ['plan', 'edits.csv', '--endpoint', 'image-edit', '--local']);
  if (!plan.out.includes('12 rows')) throw new Error(`plan said: ${plan.out}`);
  const refused = millrace(node, folder, ['run', 'edits.csv', '--endpoint', 'image-edit', '--local']);
  if (refused.code !== 2 || !refused.err.includes('npm i sharp')) {
    throw new Error(`run without sharp ended with ${refused.code} and said: ${refused.err}`);
  }
  print('  command line: plans; asks for sharp by its npm line');
}

function runSample(node: OtherNode, folder: string): void {
  for (const http of ['got', 'undici']) {
    const out = `out-${http}`;
    const options = ['--endpoint', 'image-edit', '--local', '--http', http, '--out', out];
    const sample = millrace(node, folder, ['run', 'edits.csv', ...options]);
    if (sample.code !== 0) throw new Error(`the sample ended with ${sample.code}: ${sample.err}`);
    const pictures = readdirSync(join(folder, out, 'images')).length;
    const report = statSync(join(folder, out, 'report.html')).size;
    if (pictures < 10) throw new Error(`the sample made ${pictures} pictures`);
    print(`  sample over ${http}: ${pictures} pictures, a report of ${report} bytes`);
  }
}

function millrace(node: OtherNode, cwd: string, args: readonly string[]) {
  const command = ['node_modules/millrace/dist/runners/cli/main.js', ...args];
  const { status, stdout, stderr } = spawnSync('node', command, { cwd, env: node.env, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

function run(node: OtherNode, cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd,
    env: node.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** An optional package in the range that package.json names. */
function asHere(name: string): string {
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  return `${name}@${peerDependencies[name] ?? 'latest'}`;
}

function expect(printed: string, wanted: string): void {
  if (printed !== wanted) throw new Error(`wanted ${wanted}, got ${printed}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
