import { EMPTY, from, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { asJob } from '../../../src/operators/job.js';
import { jobEvents as events, jobOver } from '../../../src/testing/in-virtual-time.js';

describe('a job', () => {
  it('is an Observable of its events, also to from()', async () => {
    const job = jobOver(of(events.s, events.d));
    expect(await lastValueFrom(job.pipe(toArray()))).toStrictEqual([events.s, events.d]);
    expect(await lastValueFrom(from(job).pipe(toArray()))).toStrictEqual([events.s, events.d]);
  });

  it('can be iterated', async () => {
    const seen: string[] = [];
    for await (const { type } of jobOver(of(events.s, events.a, events.d))) seen.push(type);
    expect(seen).toStrictEqual(['submitting', 'accepted', 'settled']);
  });

  it('tells its facts as they stand', () => {
    const facts = {
      key: 'k',
      jobId: undefined as string | undefined,
      statusCalls: 0,
      cancel: () => {
        facts.statusCalls = 9;
        return EMPTY;
      },
    };
    const job = asJob(of(events.d), facts);
    facts.jobId = 'j';
    expect([job.key, job.jobId, job.statusCalls]).toStrictEqual(['k', 'j', 0]);
    void job.cancel();
    expect(job.statusCalls).toBe(9);
  });
});
