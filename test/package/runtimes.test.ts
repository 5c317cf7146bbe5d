import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmulator } from 'millrace/emulator';
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
const file = fileURLToPath(new URL(`../../out/buy-anywhere-${process.pid}.mjs`, import.meta.url));

describe.each(['bun', 'deno', 'node'] as const)('millrace/core over fetch in %s', (name) => {
  beforeAll(() => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, program);
  });
  afterAll(() => rmSync(file, { force: true }));

  it('buys 200 jobs, each once', async (context) => {
    const runtime = name === 'node' ? { command: [process.execPath] } : findRuntime(name);
    if (typeof runtime === 'string') return skipTest(context, `${name}: ${runtime}`);
    const emulator = await startEmulator({ workers: 16 });
    try {
      const [command = '', ...args] = runtime.command;
      const words = [...args, file, emulator.baseUrl, emulator.apiKey];
      const { stdout } = await promisify(execFile)(command, words, { timeout: 100_000 });
      expect(JSON.parse(stdout)).toStrictEqual({ rows: 200, right: 200 });
      expect(emulator.bill()).toHaveLength(200);
    } finally {
      await emulator.close();
    }
  });
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
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
  expect(problems).toStrictEqual([]);
});
