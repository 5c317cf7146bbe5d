import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pollFixed, type PollJob } from '../../../src/policy/polling/poll-schedule.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { clientOver, finished } from '../../support/client-over.js';
import { replied } from '../../support/virtual-time.js';

describe('an image-edit endpoint', () => {
  it('has all calls of a queue endpoint, and checks strictly before anything is sent', async () => {
    const { client, sent } = clientOver((path) => (path.endsWith('/health') ? replied(200, {}) : finished()));
    const edit = client.imageEdit('edit');
    expect(edit.id).toBe('edit');
    expect(await lastValueFrom(edit.status('j'))).toMatchObject({ status: 'COMPLETED' });
    expect(await lastValueFrom(edit.cancel('j'))).toMatchObject({ id: 'j' });
    expect(await lastValueFrom(edit.health())).toBeTypeOf('object');
    const before = sent.length;
    const input = { images: ['https://x.test/a.png'], prompt: 'x' };
    for (const wrong of [
      { images: [] },
      { prompt: ' ' },
      { aspect_ratio: '16x9' },
      { resolution: '8k' },
      { surprise: 1 },
    ])
      await expect(lastValueFrom(edit.runSync({ ...input, ...(wrong as object) }))).rejects.toMatchObject({
        code: 'invalid-input',
      });
    expect(sent).toHaveLength(before);
  });

  it('has one wrong row, and no error of run, where a resolution or an input is none', async () => {
    const { client, sent } = clientOver(() => finished());
    const edit = client.imageEdit('edit');
    const input = { images: ['https://x.test/a.png'], prompt: 'x' };
    for (const wrong of [{ ...input, resolution: 2 }, { ...input, resolution: null }, null, undefined])
      for (const call of ['run', 'runSync'] as const)
        expect(await firstValueFrom(edit[call](wrong as never).pipe(toOutcome()))).toMatchObject({
          code: 'invalid-row',
          paid: 'no',
        });
    expect(sent).toStrictEqual([]);
  });

  it.each([undefined, {}, { variant: undefined }])('learns poll times by resolution: %j', async (options) => {
    const { client } = clientOver((path) =>
      path.endsWith('/run') ? replied(200, { id: 'j', status: 'IN_QUEUE' }) : finished(),
    );
    const variants: unknown[] = [];
    const poll = {
      ...pollFixed(1),
      pollTimes: (job: PollJob) => {
        variants.push(job.variant);
        return pollFixed(1).pollTimes(job);
      },
    };
    const input = { images: ['https://x.test/a.png'], prompt: 'x', resolution: '2k' as const };
    await client.imageEdit('edit', { poll }).run(input, options).outcome();
    expect(variants).toStrictEqual(['2k']);
  });

  it('reads its output tolerantly', async () => {
    const { client } = clientOver(() =>
      replied(200, { id: 'j', status: 'COMPLETED', output: { result: 'u', cost: 'NaN', x: 1 } }),
    );
    const job = client.imageEdit('edit').runSync({ images: ['https://x.test/a.png'], prompt: 'x' });
    expect(await firstValueFrom(job.pipe(toOutcome()))).toMatchObject({
      output: { result: 'u', x: 1 },
      costUsd: null,
    });
  });
});
