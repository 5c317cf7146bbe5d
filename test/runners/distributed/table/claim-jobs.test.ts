import { randomUUID } from 'node:crypto';
import { map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../../runners/distributed/database/transaction.js';
import { claimJobs } from '../../../../runners/distributed/table/claim-jobs.js';
import { makeRun } from '../../../../runners/distributed/table/runs.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

describe('one job id for two rows of a run', () => {
  const job = (key: string, jobId: string) => ({ key, endpoint: 'echo', jobId });

  it.each([
    ['one after the other', false],
    ['in one transaction', true],
  ])('leaves the first its job, and names it to the second: %s', async (_, isTogether) => {
    const { database } = fleets;
    const run = await makeRun(database, randomUUID());
    const jobs = [job('r1', 'j'), job('r2', 'j'), job('r3', 'k')];
    const claim = (claimed: typeof jobs) => inTransaction(database.pool, (on) => claimJobs(on, run, claimed));
    const owners = isTogether
      ? [...(await claim(jobs))]
      : [...(await claim(jobs.slice(0, 1))), ...(await claim(jobs.slice(1)))];
    expect(owners.map(([{ key }, owner]) => [key, owner])).toEqual([['r2', 'r1']]);
  });
});

/** Every POST is answered with the id of the first. */
function sameIds(): Transport {
  const got = createGotTransport();
  let first: string | undefined;
  return (request) =>
    got(request).pipe(
      map((reply) => {
        if (request.method === 'GET') return reply;
        first ??= (JSON.parse(reply.body) as { id: string }).id;
        return { ...reply, body: reply.body.replace(/"id":"[^"]+"/, `"id":"${first}"`) };
      }),
    );
}

it('is found by workers that know nothing of each other', async () => {
  const transport = sameIds();
  const fleet = await fleets.open(rowsOf(6), { terms: { concurrency: 6 } });
  await Promise.all([1, 2, 3].map(() => fleet.start({ transport })));
  const rows = await fleet.ended();
  expect(rows.map(({ code }) => code).toSorted()).toEqual(['completed', ...Array<string>(5).fill('unknown')]);
  expect(rows.find(({ code }) => code === 'unknown')?.outcome).toMatchObject({
    cost: 100_000,
    source: 'unknown',
    error: { paid: 'maybe', message: expect.stringMatching(/names job ".*", which "r\d" has/) },
  });
  expect(await fleet.state()).toMatchObject({ spent: 100_000, unknown: 500_000, reserved: 0 });
});

it('is found where the manifest names the job of the first', async () => {
  const done = JSON.stringify({ id: 'named', status: 'COMPLETED', output: {} });
  const got = createGotTransport();
  const transport: Transport = (request) =>
    request.method === 'GET'
      ? of({ status: 200, headers: {}, body: done })
      : got(request).pipe(
          map((reply) => ({ ...reply, body: reply.body.replace(/"id":"[^"]+"/, '"id":"named"') })),
        );
  const [first, second] = rowsOf(2).map(({ row }) => row);
  if (first === undefined || second === undefined) throw new Error('no rows');
  const fleet = await fleets.open([{ what: 'poll', row: first, jobId: 'named', attempts: 0 }]);
  await fleet.start({ transport });
  await fleet.ended();
  await fleet.feed([{ what: 'send', row: second, attempts: 0 }]);
  const rows = await fleet.ended();
  expect(rows.map(({ code }) => code)).toEqual(['completed', 'unknown']);
  expect(rows[1]?.outcome).toMatchObject({
    error: { message: expect.stringContaining('names job "named", which "r1" has') },
  });
  expect(await fleet.state()).toMatchObject({ unknown: 100_000, reserved: 0 });
});

it('sends the second again where the user prefers to risk paying twice', async () => {
  const transport = sameIds();
  const fleet = await fleets.open(rowsOf(2), { terms: { concurrency: 1, onUnknown: 'retry', retries: 1 } });
  await fleet.start({ transport });
  const rows = await fleet.ended();
  expect(rows.map(({ code, intents }) => [code, intents.length])).toEqual([
    ['completed', 1],
    ['unknown', 2],
  ]);
  expect(await fleet.state()).toMatchObject({ spent: 100_000, unknown: 200_000, reserved: 0 });
});
