import { delay, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { paperRun } from '../../../support/paper-run.js';
import type { PaperBehaviour } from '../../../support/paper-service.js';

const job = (endpoint: string, n: number) => ({
  id: `${endpoint}-${n}`,
  endpoint,
  input: { row: `${endpoint}-${n}` },
});
const alternating = Array.from({ length: 100 }, (_, n) => [job('ill', n), job('well', n)]).flat();
const priced = { assumePriceUsd: 0.1 };

/** Most rows that are on the wire or polled at once, by the journal. */
function mostInFlight(lines: Record<string, unknown>[]): number {
  const inFlight = new Set<unknown>();
  let most = 0;
  for (const { k, id } of lines) {
    if (k === 'intent') inFlight.add(id);
    if (k === 'refused' || k === 'outcome') inFlight.delete(id);
    most = Math.max(most, inFlight.size);
  }
  return most;
}

/** When rows ended, in ms since the start. */
function endsOf(lines: Record<string, unknown>[]): number[] {
  return lines.filter(({ k }) => k === 'outcome').map(({ at }) => (at as number) - Date.UTC(2027, 0, 1));
}

it.each<[string, PaperBehaviour]>([
  ['429 to everything', 'busy'],
  ['no connection', 'unreachable'],
])('an endpoint with %s does not hold the slots of the other one', async (_, behaviour) => {
  const run = paperRun();
  run.manifest(alternating);
  run.service.behave = (row) => (row.startsWith('ill') ? behaviour : 'complete');
  const end = await run.start({ ...priced, concurrency: 8, maxCostUsd: 30 });
  const lines = run.lines('journal.jsonl');
  expect(end.exitCode).toBe(69);
  expect(end.summary.rows).toMatchObject({ completed: 100, failed: 0, toDo: 100 });
  const ends = endsOf(lines);
  expect(ends).toHaveLength(100);
  expect(Math.max(...ends)).toBeLessThan(10_000);
  expect(run.service.posts.toSorted()).toEqual(
    alternating
      .map(({ id }) => id)
      .filter((id) => id.startsWith('well'))
      .sort(),
  );
  expect(mostInFlight(lines)).toBeLessThanOrEqual(8);
  // Rows of the endpoint that refuses are set aside, and not tried all at once.
  const tried = new Set(lines.filter(({ k }) => k === 'refused').map(({ id }) => id));
  expect(tried.size).toBeLessThanOrEqual(9);
  run.service.behave = () => 'complete';
  expect(await run.start({ ...priced, concurrency: 8, maxCostUsd: 30 })).toMatchObject({ exitCode: 0 });
  expect([...run.service.executions.values()].every((times) => times === 1)).toBe(true);
  expect(run.service.executions.size).toBe(200);
});

it('rows that were refused come back when their endpoint does, and never more than there are slots', async () => {
  const run = paperRun();
  run.manifest(alternating);
  const illUntil = run.scheduler.now() + 3_000;
  run.service.behave = (row) =>
    row.startsWith('ill') && run.scheduler.now() < illUntil ? 'busy' : 'complete';
  const end = await run.start({ ...priced, concurrency: 3 });
  expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 200 } } });
  expect(mostInFlight(run.lines('journal.jsonl'))).toBeLessThanOrEqual(3);
  expect(run.service.posts).toHaveLength(200);
});

it('an endpoint with 500 to everything has twenty rows held, and each row of the other one completes', async () => {
  const run = paperRun();
  run.manifest(alternating);
  run.service.behave = (row) => (row.startsWith('ill') ? { status: 500, body: 'oops' } : 'complete');
  const end = await run.start({ ...priced, concurrency: 8 });
  expect(end).toMatchObject({ exitCode: 6, summary: { rows: { completed: 100, failed: 20, toDo: 80 } } });
  const lines = run.lines('journal.jsonl');
  const completed = lines.filter(({ k, id }) => k === 'outcome' && String(id).startsWith('well'));
  expect(Math.max(...endsOf(completed))).toBeLessThan(10_000);
  expect(run.service.posts).toHaveLength(100);
});

it('a run stops where a job of another endpoint is asked for, and the service has gone', async () => {
  const run = paperRun();
  run.manifest([job('well', 0), job('ill', 0), job('ill', 1)]);
  const { transport } = run.service;
  const goneFrom = run.scheduler.now() + 5_000;
  run.service.behave = (row) => (row.startsWith('ill') ? 'busy' : 'hang');
  const gone: typeof transport = (request) =>
    run.scheduler.now() < goneFrom
      ? transport(request)
      : throwError(() => new TransportError('connect', 'ECONNREFUSED', 'no', false, 'refused'));
  const startedAt = run.scheduler.now();
  const end = await run.start({ ...priced, transport: gone, concurrency: 2 });
  expect(end).toMatchObject({ exitCode: 69, summary: { rows: { completed: 0, toDo: 3 } } });
  expect(run.scheduler.now() - startedAt).toBeLessThan(300_000);
});

it('a run goes on while a row of another endpoint is on the wire, however long its answer takes', async () => {
  const run = paperRun();
  run.manifest([job('ill', 0), job('well', 0), job('ill', 1), job('well', 1)]);
  run.service.behave = (row) => (row.startsWith('ill') ? 'busy' : 'complete');
  const { transport } = run.service;
  const slow: typeof transport = (request) =>
    request.body?.includes('well-0') === true
      ? transport(request).pipe(delay(200_000, run.scheduler))
      : transport(request);
  const end = await run.start({ ...priced, transport: slow, concurrency: 1 });
  expect(end).toMatchObject({ exitCode: 69, summary: { rows: { completed: 2, toDo: 2 } } });
});

it('a row whose tries are used up is sent again while a row of another endpoint waits for its answer', async () => {
  const run = paperRun();
  run.manifest([job('ill', 0), job('well', 0)]);
  const begin = run.scheduler.now();
  run.service.behave = (row) =>
    row.startsWith('ill') && run.scheduler.now() - begin < 150_000 ? 'busy' : 'complete';
  const { transport } = run.service;
  const slow: typeof transport = (request) =>
    request.body?.includes('well-0') === true
      ? transport(request).pipe(delay(200_000, run.scheduler))
      : transport(request);
  const end = await run.start({ ...priced, transport: slow, concurrency: 2 });
  expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 2, toDo: 0 } } });
  expect(run.service.posts.toSorted()).toEqual(['ill-0', 'well-0']);
});
