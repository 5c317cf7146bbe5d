import { randomUUID } from 'node:crypto';
import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { jobsOfRows } from '../../../../runners/distributed/database/migrations.js';
import { createRunStore } from '../../../../runners/distributed/store/create-run-store.js';
import type { RunTerms } from '../../../../runners/distributed/records/run-terms.js';
import { takeSubmits } from '../../../../runners/distributed/store/take-submits.js';
import { noteWorker } from '../../../../runners/distributed/records/worker-record.js';
import { writeAnswers } from '../../../../runners/distributed/store/write-answers.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { rowsOf, termsWith } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** A run whose rows are sent, and wait for their answers. */
async function sent(count: number, terms: Partial<RunTerms> = {}) {
  const { database } = fleets;
  const store = createRunStore(database);
  const { run } = await store.openRun(randomUUID(), termsWith(terms));
  await store.feed(run, rowsOf(count));
  const worker = randomUUID();
  await noteWorker(database.pool, {
    worker,
    host: 'h',
    pid: 1,
    does: { submits: 1, polls: 0, downloads: 0 },
  });
  const options = { worker, most: count, book: createPriceBook(), maxPriceDriftPercent: undefined };
  const taken = await takeSubmits(database, run, options);
  const accepted = (place: number, jobId: string) => {
    const { item, attempt } = taken[place]!.row;
    return { is: 'accepted', item, attempt, jobId, pollInMs: 0 } as const;
  };
  return { database, store, run, accepted };
}

describe('one job id for two rows of a run', () => {
  it.each([
    ['one after the other', false],
    ['in one transaction', true],
  ])('leaves the first its job, and holds the second with both named: %s', async (_, isTogether) => {
    const { database, store, run, accepted } = await sent(3);
    const answers = [accepted(0, 'j'), accepted(1, 'j'), accepted(2, 'k')];
    if (isTogether) await writeAnswers(database, run, answers);
    else for (const answer of answers) await writeAnswers(database, run, [answer]);
    // Whether they were written may not be known: they are written again.
    await writeAnswers(database, run, answers);
    const found = await store.find(run, ['r1', 'r2', 'r3']);
    expect(found.map(({ id, place, jobId }) => [id, place, jobId]).sort()).toEqual([
      ['r1', 'accepted', 'j'],
      ['r2', 'ended', undefined],
      ['r3', 'accepted', 'k'],
    ]);
    expect(found.find(({ id }) => id === 'r2')?.ending?.outcome).toMatchObject({
      ...{ cost: 100_000, source: 'unknown' },
      error: {
        code: 'unknown',
        paid: 'maybe',
        message: expect.stringContaining('names job "j", which "r1" has'),
      },
    });
    expect(await store.stateOf(run)).toMatchObject({
      inFlight: 2,
      reserved: 200_000,
      unknown: 100_000,
      spent: 0,
    });
  });

  it('sends the second again where the user prefers to risk paying twice', async () => {
    const { database, store, run, accepted } = await sent(2, { onUnknown: 'retry' });
    await writeAnswers(database, run, [accepted(0, 'j'), accepted(1, 'j')]);
    expect(await store.stateOf(run)).toMatchObject({
      open: 1,
      inFlight: 1,
      reserved: 100_000,
      unknown: 100_000,
    });
  });

  it('knows the jobs of a database that was made before, and those that rows collect', async () => {
    const { database, run, accepted, store } = await sent(2);
    await writeAnswers(database, run, [accepted(0, 'j')]);
    await database.pool.query('drop table millrace.jobs');
    await database.pool.query(jobsOfRows);
    await writeAnswers(database, run, [accepted(1, 'j')]);
    expect(await store.find(run, ['r2'])).toMatchObject([{ place: 'ended' }]);
    const other = await sent(1);
    const [row] = rowsOf(1);
    await other.store.feed(other.run, [{ ...row!, facts: { ...row!.facts, id: 'c' }, jobId: 'x' }]);
    await writeAnswers(other.database, other.run, [other.accepted(0, 'x')]);
    expect(await other.store.find(other.run, ['r1'])).toMatchObject([{ place: 'ended' }]);
  });
});

it('is found by workers that know nothing of each other', async () => {
  const got = createGotTransport();
  let first: string | undefined;
  const transport: Transport = (request) =>
    got(request).pipe(
      map((reply) => {
        if (request.method === 'GET') return reply;
        first ??= (JSON.parse(reply.body) as { id: string }).id;
        return { ...reply, body: reply.body.replace(/"id":"[^"]+"/, `"id":"${first}"`) };
      }),
    );
  const fleet = await fleets.open(rowsOf(6), { terms: { concurrency: 6 } });
  await Promise.all([1, 2, 3].map(() => fleet.start({ transport })));
  const codes = (await fleet.ended()).map(({ ending: { outcome } }) =>
    outcome?.status === 'failed' ? outcome.error.code : outcome?.status,
  );
  expect(codes.toSorted()).toEqual(['completed', ...Array<string>(5).fill('unknown')]);
  expect(await fleet.state()).toMatchObject({ spent: 100_000, unknown: 500_000, reserved: 0 });
});
