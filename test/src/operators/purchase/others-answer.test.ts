import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { toOutcome } from '../../../../src/operators/to-outcome.js';
import type { Job } from '../../../../src/operators/job.js';
import { createJobIds } from '../../../../src/policy/job-ids.js';
import { clientOver } from '../../../support/client-over.js';
import { replied } from '../../../support/virtual-time.js';

const outcome = (job: Job<unknown>) => firstValueFrom(job.pipe(toOutcome()));
const throwsNow = () => {
  throw new Error('no ids');
};
const completed = (id: string, output: unknown = { of: id }) =>
  replied(200, { id, status: 'COMPLETED', output });

describe('an answer that names a job of another POST', () => {
  const bodies = {
    completed: completed('j'),
    accepted: replied(200, { id: 'j', status: 'IN_QUEUE' }),
    failed: replied(200, { id: 'j', status: 'FAILED', error: 'no' }),
    rejected: replied(400, { id: 'j', status: 'FAILED', error: 'no' }),
    'without a status': replied(200, { id: 'j' }),
  };

  it.each(Object.entries(bodies))('leaves it in doubt: %s', async (_, body) => {
    let posts = 0;
    const { client, sent } = clientOver(() => (++posts === 1 ? completed('j') : body));
    const queue = client.queue('e');
    expect(await outcome(queue.runSync({}, { key: 'first' }))).toMatchObject({ output: { of: 'j' } });
    const second = queue.run({}, { key: 'second' });
    const held = await outcome(second);
    expect(held).toStrictEqual({
      status: 'failed',
      code: 'unknown',
      paid: 'maybe',
      message: expect.stringMatching(
        /^POST \/v2\/e\/run: the answer names job "j", which "first" has already/,
      ),
    });
    expect(second.jobId).toBeUndefined();
    expect(sent).toHaveLength(2);
  });

  it('is one also where the same row is bought again', async () => {
    const { client } = clientOver(() => completed('j'));
    const queue = client.queue('e');
    expect(await outcome(queue.runSync({}, { key: 'row' }))).toMatchObject({ status: 'completed' });
    expect(await outcome(queue.runSync({}, { key: 'row' }))).toMatchObject({ code: 'unknown' });
  });

  it('is none on another endpoint, of a requeued job, or of one that is attached to', async () => {
    const { client } = clientOver(() => completed('j'));
    const queue = client.queue('e');
    await outcome(queue.runSync({}));
    expect(await outcome(client.queue('f').runSync({}))).toMatchObject({ status: 'completed' });
    expect(await outcome(queue.retry('j'))).toMatchObject({ status: 'completed' });
    expect(await outcome(queue.attach('j'))).toMatchObject({ status: 'completed' });
  });

  it('is found by ids that are kept elsewhere, and waited for', async () => {
    const jobIds = { claim: () => Promise.resolve('a row of last night') };
    const { client } = clientOver(() => completed('j'), { jobIds });
    expect(await outcome(client.queue('e').runSync({}))).toMatchObject({
      code: 'unknown',
      message: expect.stringContaining('"a row of last night"'),
    });
  });

  it.each([
    ['throws', () => throwsNow()],
    ['rejects', () => Promise.reject(new Error('no ids'))],
  ])('errors the job, whose id stays known, when their store %s', async (_, claim) => {
    const { client } = clientOver(() => bodies.accepted, { jobIds: { claim } });
    const job = client.queue('e').run({});
    await expect(outcome(job)).rejects.toThrow('no ids');
    expect(job.jobId).toBe('j');
  });
});

describe('createJobIds', () => {
  it('remembers the last ids, and at most twice as many', () => {
    const ids = createJobIds(2);
    const claim = (jobId: string) => ids.claim({ endpoint: 'e', jobId, key: `row of ${jobId}` });
    expect(['a', 'b', 'a', 'c', 'b'].map(claim)).toStrictEqual([
      ...[undefined, undefined, 'row of a', undefined, 'row of b'],
    ]);
    expect(['d', 'e', 'a', 'd'].map(claim)).toStrictEqual([undefined, undefined, undefined, 'row of d']);
  });
});

describe('an answer whose id leads nowhere', () => {
  it.each(['', '.', '..', 7, null, 'x'.repeat(1_001), 'half a pair \ud800'])('%j', async (id) => {
    const { client, sent } = clientOver(() => replied(200, { id, status: 'IN_QUEUE' }));
    expect(await outcome(client.queue('e').run({}))).toMatchObject({ code: 'unknown', paid: 'maybe' });
    expect(sent).toHaveLength(1);
  });

  it('is asked for as one piece of the path', async () => {
    const { client, sent } = clientOver((path) =>
      path.endsWith('/run') ? replied(200, { id: '/../a', status: 'IN_QUEUE' }) : completed('/../a'),
    );
    expect(await outcome(client.queue('e').run({}))).toMatchObject({ status: 'completed' });
    expect(sent[1]?.url).toBe('https://api.example.test/v2/e/status/%2F..%2Fa');
  });
});
