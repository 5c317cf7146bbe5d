import { afterEach, beforeEach, expect, it } from 'vitest';
import { serveQueue, type QueueServer } from '../../../support/queue-server.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

let work: Rehearsal;
let queue: QueueServer;
let bodies: string[];

beforeEach(async () => {
  work = await openRehearsal();
  bodies = [];
  queue = await serveQueue({
    polls: 0,
    answer: (_request, _response, body) => {
      if (body !== '') bodies.push(body);
      return false;
    },
  });
  await work.write('rows.jsonl', echoJobs(1));
});
afterEach(async () => {
  await queue[Symbol.asyncDispose]();
  await work.close();
});

const run = (...more: string[]) =>
  work.call('run', 'rows.jsonl', '--base-url', queue.url, '--assume-price', '0.01', '--yes', ...more);
const low = '"policy":{"lowPriority":true}';
const effectless = 'note: --low-priority has no effect: no row goes to /run (--mode async)';

it('is said with each row that goes to /run, and leaves a row what it is', async () => {
  expect((await run('--out', 'out', '--low-priority')).code).toBe(0);
  await work.write('rows.jsonl', echoJobs(2));
  const { code, stdout, stderr } = await run('--out', 'out');
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).not.toContain('changed');
  expect(bodies).toStrictEqual([`{"input":{"n":0},${low}}`, '{"input":{"n":1}}']);
  await run('--out', 'plain', '--limit', '1');
  const hashOf = async (out: string) =>
    (await work.lines(`${out}/journal.jsonl`)).find(({ id }) => id === 'j0');
  expect((await hashOf('out'))?.['hash']).toBe((await hashOf('plain'))?.['hash']);
  expect((await hashOf('out'))?.['hash']).toBeDefined();
});

it('is taken from a configuration file, and printed in commands about the run', async () => {
  await work.write('millrace.config.json', [JSON.stringify({ low_priority: true })]);
  expect((await run('--out', 'out')).code).toBe(0);
  expect(bodies).toStrictEqual([`{"input":{"n":0},${low}}`]);
  await work.write('rows.jsonl', echoJobs(2));
  const undone = await run('--out', 'out', '--no-low-priority', '--max-cost', '0.01');
  expect(undone.code).toBe(3);
  expect(`${undone.stdout}${undone.stderr}`).toMatch(/^ +millrace plan .*--no-low-priority /m);
  expect(`${undone.stdout}${undone.stderr}`).not.toContain('note: --low-priority');
  await run('--out', 'out', '--no-low-priority', '--max-cost', 'none');
  expect(bodies).toStrictEqual([`{"input":{"n":0},${low}}`, '{"input":{"n":1}}']);
  await work.write('millrace.config.json', ['{"low_priority": "yes"}']);
  expect((await run('--out', 'out')).stderr).toContain('low_priority: is neither true nor false');
  await work.write('millrace.config.json', ['{"low_priority": false}']);
  await work.write('rows.jsonl', echoJobs(3));
  const { stdout, stderr } = await run('--out', 'out', '--low-priority', '--max-cost', '0.02');
  expect(`${stdout}${stderr}`).toMatch(/^ +millrace plan .*--low-priority /m);
});

it('has no effect on /runsync, and plan and run say so', async () => {
  const sync = ['--mode', 'sync', '--low-priority'];
  const { stderr } = await run('--out', 'out', ...sync);
  expect(stderr).toContain(effectless);
  expect(bodies).toStrictEqual(['{"input":{"n":0}}']);
  expect((await work.call('plan', 'rows.jsonl', ...sync)).stderr).toContain(effectless);
  const plan = await work.call('plan', 'rows.jsonl', '--low-priority', '--json');
  expect(plan.stderr).toBe(
    'note: --low-priority: rows that go to /run wait at the service behind all jobs without low priority\n',
  );
  expect(JSON.parse(plan.stdout)).toMatchObject({ lowPriority: true });
  expect(JSON.parse((await work.call('plan', 'rows.jsonl', '--json')).stdout)).not.toHaveProperty(
    'lowPriority',
  );
});

it('is taken by the emulator of a rehearsal', async () => {
  const { code } = await work.call('run', 'rows.jsonl', '--local', '--low-priority', '--out', 'out');
  expect(code).toBe(0);
  expect(await work.json('out/summary.json')).toMatchObject({ rows: { completed: 1 } });
});
