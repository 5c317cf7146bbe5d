import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import { createUndiciTransport } from '../../../../src/transport/undici/undici-transport.js';
import { runFolder, type RunFolder } from '../../../support/run-folder.js';
import { startStrangeService, type StrangeSettings } from '../../../support/strange-service.js';

let folder: RunFolder;
beforeEach(() => (folder = runFolder()));
afterEach(() => folder.remove());

const ids = Array.from({ length: 48 }, (_, index) => `row-${index}`);

/** Runs 48 rows, 8 at a time. */
async function runOver(
  settings: StrangeSettings,
  {
    create,
    mode,
  }: { create: typeof createGotTransport | typeof createUndiciTransport; mode: 'sync' | 'async' },
) {
  await using service = await startStrangeService(settings);
  folder.manifest(ids.map((id) => ({ id, endpoint: 'echo', input: { row: id } })));
  const { baseUrl, key } = service;
  const end = await folder.run(
    { baseUrl, lbBaseUrl: baseUrl, key },
    {
      manifest: { path: `${folder.path}/manifest.jsonl`, mode },
      transport: create(),
      concurrency: 8,
      schedule: pollFixed(20),
    },
  );
  const results = folder.lines('results.jsonl') as { id: string; output: { row: string } }[];
  const failures = folder.lines('failures.jsonl') as {
    id: string;
    error: { code: string; message: string };
  }[];
  return { service, end, results, failures };
}

describe.each([
  { client: 'got', create: createGotTransport },
  { client: 'undici', create: createUndiciTransport },
])('over $client', ({ create }) => {
  describe.each(['sync', 'async'] as const)('and --mode %s', (mode) => {
    it.each([5, 60])('replies that are sent again %i ms later are no row’s answer', async (againAfterMs) => {
      const { service, end, results, failures } = await runOver({ againAfterMs }, { create, mode });
      expect(results.filter(({ id, output }) => output.row !== id)).toEqual([]);
      expect([...results, ...failures].map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect(failures.filter(({ error }) => error.code !== 'unknown')).toEqual([]);
      expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
      expect(end.exitCode).toBe(failures.length === 0 ? 0 : 6);
    });

    it('one id for two rows: the second is held, and both are named', async () => {
      const { service, end, results, failures } = await runOver({ sameIds: true }, { create, mode });
      expect(results.filter(({ id, output }) => output.row !== id)).toEqual([]);
      expect([results.length, failures.length, end.exitCode]).toEqual([24, 24, 6]);
      for (const { error } of failures) {
        expect(error).toMatchObject({ code: 'unknown' });
        expect(error.message).toMatch(/job-\d+/);
        expect(results.some(({ id }) => error.message.includes(id))).toBe(true);
      }
      expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
    });
  });
});
