import { afterEach, beforeEach, expect, it } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { openSharedRun, type SharedRun } from '../../support/shared-run.js';
import { startStrangeService } from '../../support/strange-service.js';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun();
});
afterEach(() => run.close());

const ids = Array.from({ length: 24 }, (_, index) => `row-${index}`);
const cases = (['sync', 'async'] as const).flatMap((mode) => [
  { mode, client: 'got', create: createGotTransport },
  { mode, client: 'undici', create: createUndiciTransport },
]);

it.each(cases)(
  'workers over $client and --mode $mode keep each answer with its row, and hold a row whose id another one has',
  async ({ mode, create }) => {
    await using service = await startStrangeService({ againAfterMs: 5, sameIds: true });
    const { baseUrl, key: apiKey } = service;
    const manifest = run.folder.manifest(ids.map((id) => ({ id, endpoint: 'echo', input: { row: id } })));
    await run.work({ baseUrl, apiKey, lbBaseUrl: baseUrl, transport: create() });
    const end = await run.collect({
      manifest: { path: manifest, mode },
      baseUrl,
      apiKey,
      lbBaseUrl: baseUrl,
      concurrency: 6,
    });
    const results = run.folder.lines('results.jsonl') as { id: string; output: { row: string } }[];
    const failures = run.folder.lines('failures.jsonl') as { id: string; error: { code: string } }[];
    expect(results.filter(({ id, output }) => output.row !== id)).toEqual([]);
    expect([...results, ...failures].map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(failures.filter(({ error }) => error.code !== 'unknown')).toEqual([]);
    expect(failures.length).toBeGreaterThanOrEqual(ids.length / 2);
    expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
    expect(end.exitCode).toBe(6);
  },
);
