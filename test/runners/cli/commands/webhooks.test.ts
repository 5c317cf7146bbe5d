import { afterEach, beforeEach, expect, it } from 'vitest';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

let work: Rehearsal;

beforeEach(async () => {
  work = await openRehearsal();
  await work.write('rows.jsonl', echoJobs(5));
});
afterEach(() => work.close());

it('has the emulator of a rehearsal call back', async () => {
  const { code, stdout, stderr } = await work.call(
    'run',
    'rows.jsonl',
    '--local',
    '--webhook-listen',
    '127.0.0.1:0',
    '--out',
    'out',
  );
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toMatch(/callbacks +5 taken/);
  expect(await work.json('out/summary.json')).toMatchObject({
    rows: { completed: 5 },
    thisStart: { callbacks: { taken: 5, refused: 0 } },
  });
});

it.each([
  [['--webhook-listen', '127.0.0.1:0'], /--webhook-listen.*goes with --webhook-url/],
  [['--webhook-url', 'ftp://x'], /"ftp:\/\/x" is not an http or https URL/],
  [['--webhook-url', 'https://hooks.example', '--webhook-listen', 'x'], /"x" is not an address to listen at/],
])('refuses %j, and sends nothing', async (options, why) => {
  const { code, stderr } = await work.call('run', 'rows.jsonl', '--yes', ...options);
  expect([code, stderr]).toStrictEqual([2, expect.stringMatching(why)]);
  expect(work.emulator.bill()).toStrictEqual([]);
});

it('is taken by plan, which does not depend on it', async () => {
  const { code, stdout, stderr } = await work.call(
    'plan',
    'rows.jsonl',
    '--webhook-url',
    'https://hooks.example',
  );
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toContain('does not depend on --webhook-url');
});
