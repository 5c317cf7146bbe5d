import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startEmulator } from 'millrace/emulator';
import { skipTest } from '../support/skip-test.js';
import { findRuntime } from './find-runtime.js';

describe.each(['bun', 'deno', 'node'] as const)('millrace/core over fetch in %s', (name) => {
  it('buys 200 jobs, each once', async (context) => {
    const runtime = name === 'node' ? { command: [process.execPath] } : findRuntime(name);
    if (typeof runtime === 'string') return skipTest(context, `${name}: ${runtime}`);
    const emulator = await startEmulator({ workers: 16 });
    try {
      const [file = '', ...args] = runtime.command;
      const program = [...args, 'test/package/buy-anywhere.mjs', emulator.baseUrl, emulator.apiKey];
      const { stdout } = await promisify(execFile)(file, program, { timeout: 100_000 });
      expect(JSON.parse(stdout)).toStrictEqual({ rows: 200, right: 200 });
      expect(emulator.bill()).toHaveLength(200);
    } finally {
      await emulator.close();
    }
  });
});
