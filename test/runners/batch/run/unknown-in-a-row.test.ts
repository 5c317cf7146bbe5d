import { expect, it } from 'vitest';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import { paperRun } from '../../../support/paper-run.js';
import type { PaperBehaviour } from '../../../support/paper-service.js';

const job = (n: number) => ({ id: `r${n}`, endpoint: 'ep', input: { row: `r${n}` } });
const rows = Array.from({ length: 200 }, (_, n) => job(n));
const priced = { assumePriceUsd: 0.1, concurrency: 8 };
const page: PaperBehaviour = { status: 200, body: '<html>please log in</html>' };

it.each<[string, PaperBehaviour]>([
  ['a page with status 200', page],
  ['an id that is a number', { status: 200, body: { id: 123, status: 'IN_QUEUE' } }],
  ['the same job for every request', { status: 200, body: { id: 'same', status: 'IN_QUEUE' } }],
  ['500', { status: 500, body: 'oops' }],
  ['409', { status: 409, body: { error: 'conflict' } }],
  ['no answer, though the job runs', 'lose-answer'],
])('a service that answers %s is not sold the whole manifest [fault 5]', async (_, behaviour) => {
  const run = paperRun();
  run.manifest(rows);
  run.service.behave = (row) => (row === 'r0' ? 'hang' : behaviour);
  const end = await run.start({ ...priced, timeoutMs: 20_000 });
  expect(end.exitCode).toBe(6);
  expect(end.reason).toMatch(/^Stopped because \d+ requests in a row may have been accepted/);
  const unknown = end.summary.failures['unknown'] ?? 0;
  expect(unknown).toBeGreaterThanOrEqual(20);
  expect(unknown).toBeLessThanOrEqual(40);
  expect(end.summary.rows.toDo).toBeGreaterThan(150);
  run.service.behave = () => 'complete';
  const next = await run.start({ ...priced, timeoutMs: 20_000 });
  expect(next).toMatchObject({ exitCode: 6, summary: { failures: { unknown }, rows: { toDo: 0 } } });
  expect(new Set(run.service.posts).size).toBe(run.service.posts.length);
});

it('a few requests in doubt, one after the other, stop nothing [fault 5]', async () => {
  const run = paperRun();
  run.manifest(rows);
  run.service.behave = (row) => (Number(row.slice(1)) % 100 < 15 ? page : 'complete');
  const end = await run.start(priced);
  expect(end).toMatchObject({ exitCode: 6, summary: { rows: { completed: 170, failed: 30, toDo: 0 } } });
});

it('a job that is accepted between them shows that the service works, before it has ended [fault 5]', async () => {
  const run = paperRun();
  run.manifest(rows.slice(0, 60));
  run.service.behave = (row) => (Number(row.slice(1)) % 10 === 0 ? 'hang' : page);
  const end = await run.start({ ...priced, concurrency: 8, timeoutMs: 60_000 });
  expect(end).toMatchObject({ exitCode: 6, summary: { failures: { unknown: 54, deadline: 6 } } });
});

it('another endpoint that has accepted a job keeps the run going [fault 5]', async () => {
  const run = paperRun();
  run.manifest(rows.slice(0, 40).map((row, n) => (n === 0 ? { ...row, endpoint: 'well' } : row)));
  run.service.behave = (row) => (row === 'r0' ? 'hang' : page);
  const schedule = pollFixed(1_000, run.scheduler);
  const end = await run.start({ ...priced, schedule, timeoutMs: 600_000 });
  expect(end).toMatchObject({ exitCode: 6, summary: { failures: { unknown: 39, deadline: 1 } } });
});
