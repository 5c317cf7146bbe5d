import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmulator } from 'millrace/emulator';
import { bodyOf, serveHttp } from '../support/loopback-server.js';
import { skipTest } from '../support/skip-test.js';
import { findRuntime } from './find-runtime.js';

/** Buys 200 jobs with millrace/core over fetch in whatever runs this, and prints what became of them. */
const program = `
import { lastValueFrom, toArray } from 'rxjs';
import { createClient, pullJobs } from 'millrace/core';
import { createFetchTransport } from 'millrace/fetch';
const [baseUrl, apiKey] = process.argv.slice(-2);
const client = createClient({ baseUrl, apiKey, transport: createFetchTransport() });
const endpoint = client.queue('echo');
const rows = Array.from({ length: 200 }, (_, row) => ({ row }));
const all = await lastValueFrom(pullJobs(rows, (row) => endpoint.run(row), { concurrency: 16 }).pipe(toArray()));
const isRight = ({ row, outcome }) => outcome.status === 'completed' && outcome.output.echo.row === row.row;
await client.close();
console.log(JSON.stringify({ rows: all.length, right: all.filter(isRight).length }));
`;
/** Buys a job, and requeues one, each when there is a connection that was used before and has rested. */
const overUsed = (transport: 'fetch' | 'got') => `
import { firstValueFrom } from 'rxjs';
import { createClient } from 'millrace${transport === 'got' ? '' : '/core'}';
import { createFetchTransport } from 'millrace/fetch';
const transport = ${transport === 'got' ? 'undefined' : 'createFetchTransport()'};
const client = createClient({ baseUrl: process.argv.at(-1), transport });
const endpoint = client.queue('echo');
const codes = [];
for (const make of [() => endpoint.run({ a: 1 }), () => endpoint.retry('failed')]) {
  await firstValueFrom(endpoint.health());
  await new Promise((resolve) => setTimeout(resolve, 150));
  codes.push((await make().outcome()).code);
}
console.log(JSON.stringify(codes));
`;
const file = fileURLToPath(new URL(`../../out/buy-anywhere-${process.pid}.mjs`, import.meta.url));

describe.each(['bun', 'deno', 'node'] as const)('millrace in %s', (name) => {
  beforeAll(() => {
    mkdirSync(dirname(file), { recursive: true });
  });
  afterAll(() => rmSync(file, { force: true }));

  const runtime = name === 'node' ? { command: [process.execPath] } : findRuntime(name);
  const run = async (program: string, words: readonly string[]): Promise<unknown> => {
    if (typeof runtime === 'string') throw new Error(runtime);
    const [command = '', ...args] = runtime.command;
    writeFileSync(file, program);
    const { stdout } = await promisify(execFile)(command, [...args, file, ...words], { timeout: 100_000 });
    return JSON.parse(stdout);
  };

  it('buys 200 jobs with millrace/core over fetch, each once', async (context) => {
    if (typeof runtime === 'string') return skipTest(context, `${name}: ${runtime}`);
    const emulator = await startEmulator({ workers: 16 });
    try {
      const bought = await run(program, [emulator.baseUrl, emulator.apiKey]);
      expect(bought).toStrictEqual({ rows: 200, right: 200 });
      expect(emulator.bill()).toHaveLength(200);
    } finally {
      await emulator.close();
    }
  });

  it.for(['fetch', 'got'] as const)(
    'sends a purchase once, if its connection breaks after the service has read it: %s',
    async (transport, context) => {
      if (typeof runtime === 'string') return skipTest(context, `${name}: ${runtime}`);
      const posts: string[] = [];
      await using server = await serveHttp((request, response) => {
        void bodyOf(request).then(() => {
          if (request.method === 'GET') return response.end('{}');
          posts.push(request.url ?? '');
          return request.socket.destroy();
        });
      });
      expect(await run(overUsed(transport), [server.url])).toStrictEqual(['unknown', 'unknown']);
      expect(posts).toStrictEqual(['/v2/echo/run', '/v2/echo/retry/failed']);
    },
  );
});

const refusals = [
  [
    'undici on Bun, whose own has no connections: rows would be in doubt',
    'bun',
    `import { createUndiciTransport } from 'millrace/undici';
try { createUndiciTransport(); } catch ({ code, message }) { console.log(code, message); }`,
    /^invalid-option transport: .*use the default transport/,
  ],
  [
    'a run on Deno, which dies while it loads the lock',
    'deno',
    `import { runBatch } from 'millrace/batch';
const options = { manifest: { rows: [] }, out: process.argv.at(-1), baseUrl: 'http://127.0.0.1:9', apiKey: 'k' };
for await (const { exitCode, reason } of runBatch(options)) if (reason) console.log(exitCode, reason);`,
    /^74 Deno cannot load .* start this with Node\.js/,
  ],
] as const;

it.for(refusals)('refuses %s', async ([, name, program, message], context) => {
  const runtime = findRuntime(name);
  if (typeof runtime === 'string') return skipTest(context, `${name}: ${runtime}`);
  const [command = '', ...args] = runtime.command;
  const out = mkdtempSync(join(tmpdir(), 'millrace-refused-'));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, program);
  try {
    const { stdout } = await promisify(execFile)(command, [...args, file, out], { timeout: 100_000 });
    expect(stdout).toMatch(message);
  } finally {
    rmSync(file, { force: true });
    rmSync(out, { recursive: true });
  }
});

it('has a batch runner that a bundler accepts where the optional packages are missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bundled-'));
  try {
    for (const part of ['chunks', 'runners/batch'])
      cpSync(new URL(`../../dist/${part}`, import.meta.url), join(folder, part), { recursive: true });
    const { dependencies } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { dependencies: object };
    const { warnings } = await build({
      entryPoints: [join(folder, 'runners/batch/index.js')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: [...Object.keys(dependencies), 'rxjs'],
      write: false,
      logLevel: 'silent',
    });
    expect(warnings).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('leaves zod out of a bundle of operators, which use no schema', async () => {
  const words = ['pollFixed', 'pullJobs', 'withinBudget', 'toOutcome', 'isTerminal', 'failureCodes'];
  const contents = `export { ${words.join(', ')} } from './core.js';`;
  const { metafile } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../../dist/src', import.meta.url)) },
    bundle: true,
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const [output] = Object.values(metafile.outputs);
  const used = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  expect(used.map(([path]) => path).filter((path) => path.includes('/zod/'))).toEqual([]);
});

it('has types for an application that knows nothing of Node.js, by the libraries of a browser, with every declaration checked', () => {
  const declarations = ['core', 'fetch'].map((door) =>
    fileURLToPath(new URL(`../../dist/src/${door}.d.ts`, import.meta.url)),
  );
  const program = ts.createProgram(declarations, {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    types: [],
  });
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.includes('/dist/src/'));
  const problems = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  expect(ours.length).toBeGreaterThan(20);
  expect(problems.map(({ messageText }) => messageText)).toStrictEqual([]);
});

it('takes undefined for what may be left out of its options, also where exactOptionalPropertyTypes is on', () => {
  const doors = ['src/index', 'src/core', 'src/fetch', 'src/testing', 'src/undici', 'runners/batch/index'];
  const declarations = doors.map((door) =>
    fileURLToPath(new URL(`../../dist/${door}.d.ts`, import.meta.url)),
  );
  const { ESNext } = ts.ModuleKind;
  const moduleResolution = ts.ModuleResolutionKind.Bundler;
  const options = { strict: true, exactOptionalPropertyTypes: true, module: ESNext, moduleResolution };
  const program = ts.createProgram(declarations, { ...options, types: ['node'] });
  const checker = program.getTypeChecker();
  const given = declarations.flatMap((declaration) => {
    const file = program.getSourceFile(declaration);
    const door = file && checker.getSymbolAtLocation(file);
    const names = door === undefined ? [] : checker.getExportsOfModule(door);
    return names.filter(({ name }) => /(Options|Policy|Settings)$/.test(name));
  });
  const refused = given.flatMap((name) => {
    const members = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(name)).getProperties();
    return members.filter(refusesUndefined).map((member) => `${name.name}.${member.name}`);
  });
  function refusesUndefined(member: ts.Symbol): boolean {
    const type = checker.getTypeOfSymbol(member);
    return (
      (member.flags & ts.SymbolFlags.Optional) !== 0 &&
      !checker.isTypeAssignableTo(checker.getUndefinedType(), type)
    );
  }
  expect(given.length).toBeGreaterThan(40);
  expect(refused).toStrictEqual([]);
});

it('has declarations that TypeScript 5.4 knows: no type parameters that came later', () => {
  const folder = fileURLToPath(new URL('../../dist', import.meta.url));
  const files = ['src', 'runners/batch'].flatMap((room) =>
    readdirSync(join(folder, room), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, room, file),
    ),
  );
  const later = /\b(?:(?:Float|Int|Uint)\w*Array|Buffer)<|IterableIterator<[^<>]*,/;
  const newer = files.filter((file) => file.endsWith('.d.ts') && later.test(readFileSync(file, 'utf8')));
  expect(files.length).toBeGreaterThan(100);
  expect(newer).toStrictEqual([]);
});
