import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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
