import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { millrace, startMillrace } from '../../../support/millrace.js';
import { until } from '../../../support/until.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const key = 'canary-redo-77a1';
const count = 24;

let work: Workplace;
let emulator: Emulator;
beforeEach(async () => {
  work = await openWorkplace();
  emulator = await startEmulator({ key, workers: 4 });
});
afterEach(async () => {
  await emulator.close();
  await work.remove();
});

const manifest = (version: number) =>
  work.write('rows.csv', [
    'id,input.n,input.version,input.sleepMs',
    ...Array.from({ length: count }, (_, n) => `r${n},${n},${version},${version === 1 ? 1 : 60}`),
  ]);
const command = (...more: string[]) =>
  [
    [
      ...['run', 'rows.csv', '--out', 'out', '--endpoint', 'echo', '--base-url', emulator.baseUrl],
      ...['--concurrency', '2', '--yes', '--quiet', ...more],
    ],
    { cwd: work.folder, env: { MILLRACE_API_KEY: key } },
  ] as const;
const run = (...more: string[]) => millrace(...command(...more));
const text = (name: string) => readFile(join(work.folder, 'out', name), 'utf8').catch(() => '');

/** The version of each row's latest result in a file, in the order of the rows; `twice`: how many rows have more than one. */
async function versions(name: string): Promise<{ latest: (number | undefined)[]; twice: number }> {
  const found = new Map<string, number>();
  const lines = (await text(name)).split('\n').slice(0, -1);
  for (const line of lines) {
    const { id, request } = JSON.parse(line) as { id: string; request: { input: { version: number } } };
    found.set(id, request.input.version);
  }
  const latest = Array.from({ length: count }, (_, n) => found.get(`r${n}`));
  return { latest, twice: lines.length - found.size };
}

it('a redo that is killed leaves each row its paid result, and the next start brings the new ones', async () => {
  await manifest(1);
  expect(await run()).toMatchObject({ code: 0 });
  await manifest(2);
  for (const wanted of [3, 9, 15]) {
    const { child, ended } = startMillrace(...command('--changed', 'redo'));
    await until(async () => (await versions('earlier.jsonl')).latest.filter(Boolean).length >= wanted);
    child.kill('SIGKILL');
    await ended;
    const killed = await versions('results.jsonl');
    expect(killed.latest).not.toContain(undefined);
    expect(killed.latest).toContain(1);
    expect(killed.latest.filter((version) => version === 2).length).toBeGreaterThanOrEqual(wanted);
  }
  // Requests that were out when the process was killed are held, until a person says that they are to be sent again.
  await run('--changed', 'redo');
  expect((await versions('results.jsonl')).latest).not.toContain(undefined);
  expect(await run('--changed', 'redo', '--retry', 'unknown')).toMatchObject({ code: 0 });
  const twos = Array.from({ length: count }, () => 2);
  expect(await versions('results.jsonl')).toEqual({ latest: twos, twice: 0 });
  expect(await versions('earlier.jsonl')).toEqual({ latest: twos.map(() => 1), twice: 0 });
  expect((await text('results.csv')).trimEnd().split('\n')).toHaveLength(count + 1);
  expect(await text('failures.jsonl')).toBe('');
}, 90_000);
