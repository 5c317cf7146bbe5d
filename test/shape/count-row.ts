/**
 * `npm run shape:row`: how many of our files and functions one more row enters, by V8's own counts. A run of a few rows and one of
 * more rows go against the emulator in a process of its own; a function counts where its calls grow with the rows. `--list` names
 * them with their calls, and `--write` puts the counts into src/README.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { lastValueFrom } from 'rxjs';
import type * as Batch from '../../runners/batch/index.js';
import { asTable, writeTable } from './shape-table.js';

interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Rows {
  readonly endpoint: string;
  readonly row: (n: number) => object;
}

/** Rows of the two runs. A function that each row enters is called so many times more in the second. */
const [few, many] = [40, 120];
/** Each file by itself, as it stands: V8 counts by file. */
const compiled = resolve('node_modules/.cache/count-row');
const kinds: Readonly<Record<string, Rows>> = {
  job: { endpoint: 'echo', row: (n) => ({ id: `job-${n}`, kind: 'job', input: { n } }) },
  edit: {
    endpoint: 'image-edit',
    row: (n) => ({ id: `edit-${n}`, images: ['https://pictures.example/a.png'], prompt: `number ${n}` }),
  },
};

await compile();
const { service, close } = await serve();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const { runBatch } = (await import(
  pathToFileURL(join(compiled, 'runners/batch/index.js')).href
)) as typeof Batch;
const counts: [kind: string, entered: string][] = [];
for (const [kind, rows] of Object.entries(kinds)) {
  const before = await callsIn(rows, few);
  const after = await callsIn(rows, many);
  const entered = [...after].filter(
    ([name, calls]) => calls - (before.get(name) ?? 0) >= 0.95 * (many - few),
  );
  const files = new Set(entered.map(([name]) => name.split('#')[0]));
  counts.push([kind, `${files.size} files and ${entered.length} functions`]);
  console.log(`one more row of kind ${kind} enters ${counts.at(-1)?.[1]}`);
  if (argv.includes('--list')) console.log(entered.map(([name, calls]) => `  ${name} ${calls}`).join('\n'));
}
session.disconnect();
close();
if (argv.includes('--write'))
  writeTable('shape:row', asTable([['one more row of kind', 'enters'], ...counts]));

async function compile(): Promise<void> {
  const below = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => join(folder, path));
  rmSync(compiled, { recursive: true, force: true });
  await build({
    entryPoints: [...below('src'), ...below('runners')],
    outdir: compiled,
    outbase: '.',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
}

async function serve(): Promise<{ service: Service; close: () => void }> {
  const child = spawn(execPath, ['dist/runners/cli/main.js', 'serve'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { service: JSON.parse(line) as Service, close: () => child.kill() };
}

/** The calls of each function of ours in a run of `count` rows that no other run has bought. */
async function callsIn({ endpoint, row }: Rows, count: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'count-row-'));
  const path = join(folder, 'rows.jsonl');
  env['XDG_STATE_HOME'] = join(folder, 'state');
  writeFileSync(path, Array.from({ length: count }, (_, n) => JSON.stringify(row(n))).join('\n'));
  await session.post('Profiler.takePreciseCoverage');
  const { baseUrl, apiKey } = service;
  await lastValueFrom(
    runBatch({
      manifest: { path, endpoint },
      out: join(folder, 'out'),
      baseUrl,
      apiKey,
    }),
  );
  const { result } = await session.post('Profiler.takePreciseCoverage');
  rmSync(folder, { recursive: true });
  return new Map(
    result
      .filter(({ url }) => url.includes(compiled))
      .flatMap(({ url, functions }) =>
        functions.map(
          ({ functionName, ranges: [range] }) =>
            [
              `${url.split(compiled)[1] ?? ''}#${functionName}@${range?.startOffset ?? 0}`,
              range?.count ?? 0,
            ] as const,
        ),
      ),
  );
}
