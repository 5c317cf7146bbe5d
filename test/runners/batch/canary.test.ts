import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startOtherServer, type Behaviour, type OtherServer } from '../../support/other-server.js';
import { runFolder, type RunFolder } from '../../support/run-folder.js';
import { skipTest } from '../../support/skip-test.js';

let server: OtherServer;
let folder: RunFolder;

beforeEach(async () => {
  server = await startOtherServer();
  folder = runFolder();
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

/** What a service may do with the key that it was sent. */
function behaviours(key: string): Behaviour[] {
  const echo = {
    error: `Bearer ${key}`,
    message: key,
    detail: JSON.stringify({ authorization: `Bearer ${key}` }),
  };
  return [
    'complete',
    'fail',
    'lose-answer',
    { output: { echo: key, headers: { authorization: `Bearer ${key}` }, [key]: [key] } },
    { status: 400, body: echo },
    { status: 500, body: echo },
    { status: 502, body: `<html>${key}</html>` },
    { status: 200, body: `not JSON: ${key}` },
    { status: 200, body: { id: key, status: 'IN_QUEUE' } },
  ];
}

/** The command lines of all processes. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

it('the key stands in no file, event, error, stack or command line, whatever the service does with it [fault 31]', async ({
  skip,
}) => {
  const { key } = server;
  const all = behaviours(key);
  const away: Behaviour = { status: 301, headers: { location: `http://elsewhere.test/?key=${key}` } };
  server.behave = (row) => all[Number(row.split('-')[1])] ?? away;
  const images = ['http://example.test/a.png'];
  folder.manifest([
    ...all.map((_, n) => ({ id: `job-${n}`, endpoint: 'e', input: { row: `job-${n}` } })),
    ...all.map((_, n) => ({ id: `edit-${n}`, endpoint: 'image-edit', images, prompt: `edit-${n}` })),
    ...all.map((_, n) => ({ id: `route-${n}`, route: `/route-${n}` })),
    // The run stops at this one.
    { id: 'job-99', endpoint: 'e', input: { row: 'job-99' } },
  ]);
  const reported: string[] = [];
  for (let start = 0; start < 3; start++) {
    const { events } = await folder.run(server, {
      retries: 0,
      concurrency: 1,
      retry: ['all'],
      timeoutMs: 1_000,
    });
    reported.push(inspect(events, { depth: 20, showHidden: true }), JSON.stringify(events));
  }
  expect(server.requests.some(({ auth }) => auth?.includes(key))).toBe(true);
  expect(server.executions.size).toBeGreaterThan(5);
  for (const text of reported) expect(text.includes(key)).toBe(false);
  for (const [name, bytes] of folder.everything()) expect([name, bytes.includes(key)]).toEqual([name, false]);
  if (process.platform !== 'linux')
    skipTest({ skip }, 'the command lines of all processes, which Linux has in /proc');
  expect(commandLines().includes(key)).toBe(false);
}, 60_000);
