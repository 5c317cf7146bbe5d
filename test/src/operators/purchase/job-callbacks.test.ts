import {
  concatMap,
  EMPTY,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  shareReplay,
  throwError,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CheckpointEvent, JobEvent } from '../../../../src/contract/outcome.js';
import type { ClientContext } from '../../../../src/operators/requests/exchange.js';
import { createJob } from '../../../../src/operators/purchase/create-job.js';
import type { JobSpec } from '../../../../src/operators/purchase/job-spec.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { createJobIds } from '../../../../src/policy/job-ids.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import { calledWebhook } from '../../../support/called-webhook.js';
import { virtualSpec } from '../../../support/virtual-spec.js';
import { inVirtualTime, replied, virtualContext, type Virtual } from '../../../support/virtual-time.js';

const replies = {
  a: replied(200, { id: 'j', status: 'IN_QUEUE' }),
  o: replied(200, { id: 'other', status: 'IN_QUEUE' }),
  d: replied(200, { id: 'j', status: 'COMPLETED', output: 'polled' }),
  f: replied(200, { id: 'j', status: 'FAILED', error: 'bad url' }),
  l: replied(429, 'slow down'),
};
const completed = { id: 'j', status: 'COMPLETED', output: 'called back' };
const called = expect.objectContaining({ status: 'completed', jobId: 'j', output: 'called back' });

interface Script {
  readonly posts: readonly string[];
  readonly gets?: readonly string[];
  readonly replies?: Record<string, ReturnType<typeof replied>>;
  readonly spec?: Partial<JobSpec<unknown>>;
  readonly context?: Partial<ClientContext>;
  readonly webhook?: ReturnType<typeof calledWebhook>;
  /** Its checkpoint fails. */
  readonly isBroken?: boolean;
}

/** A job that is called back, polled every 1,000 ms, and what comes of it. */
function jobIn(
  virtual: Virtual,
  { posts, gets = [], replies: more, spec, context, webhook = calledWebhook(), isBroken = false }: Script,
) {
  const { scheduler, cold } = virtual;
  const sent: { kind: string; at: number; body?: string }[] = [];
  const next = (lines: readonly string[], kind: string) => {
    const line = lines[sent.filter((one) => one.kind === kind).length - 1];
    return line === undefined ? NEVER : cold(line, { ...replies, ...more }, new Error('reset'));
  };
  const transport: ClientContext['transport'] = ({ url, body }) => {
    const kind = /\/(run|status|cancel)\b/.exec(url)?.[1] ?? '';
    sent.push({ kind, at: scheduler.now(), ...(body !== undefined && { body }) });
    return kind === 'run' ? next(posts, 'run') : kind === 'status' ? next(gets, 'status') : EMPTY;
  };
  const noted = virtualSpec(virtual, {
    webhook: webhook.webhook,
    trace: { endpointId: 'e', key: 'k', attempt: 0 },
    ...spec,
  });
  const options = { ...noted.spec.options, poll: pollFixed(1_000, scheduler), deadlineMs: 60_000 };
  const gate: Gate = { admit: () => EMPTY, observe: () => undefined };
  const job = createJob(
    { ...noted.spec, options: { ...options, ...spec?.options } },
    virtualContext(scheduler, transport, { gate, ...context }),
  );
  const seen: { at: number; event: JobEvent<unknown> }[] = [];
  const following = job.subscribe({
    next: (event) => seen.push({ at: scheduler.now(), event }),
    ...(isBroken && { error: () => undefined }),
  });
  const at = (ms: number, work: () => void) => scheduler.schedule(work, ms);
  return { ...webhook, webhook, job, sent, seen, following, at, kinds: () => sent.map(({ kind }) => kind) };
}

type Play = ReturnType<typeof jobIn>;
const last = ({ seen }: Play) => seen.at(-1);
const ofEnd = (outcome: unknown) => ({ type: 'settled', outcome });

function play(script: Script, begin: (job: Play) => void): Play {
  let job: Play | undefined;
  inVirtualTime((virtual) => {
    job = jobIn(virtual, script);
    begin(job);
    virtual.flush();
  });
  return job as Play;
}

describe('a callback', () => {
  it('ends an accepted job at once, without a poll', () => {
    const job = play({ posts: ['-(a|)'] }, ({ at, webhook }) => at(5, () => webhook.call(completed)));
    expect(last(job)).toStrictEqual({ at: 5, event: ofEnd(called) });
    expect(job.kinds()).toStrictEqual(['run']);
    expect(job.results).toStrictEqual(['settled']);
    expect(job.ended).toStrictEqual(['completed']);
    expect(job.webhook.isListening).toBe(false);
  });

  it('is held while its POST is on the wire, and ends the job with the answer that names it, without a poll', () => {
    const job = play({ posts: ['---------(a|)'] }, ({ at, webhook }) => {
      at(5, () => webhook.call(completed));
      at(8, () => expect(webhook.results).toStrictEqual(['…']));
    });
    expect(last(job)).toStrictEqual({ at: 9, event: ofEnd(called) });
    expect(job.kinds()).toStrictEqual(['run']);
    expect(job.results).toStrictEqual(['settled']);
    expect(job.contradicted).toStrictEqual([]);
  });

  it('that names another job than the answer that comes behind it changes nothing, and takes no id', () => {
    const jobIds = createJobIds();
    const p = replied(200, { id: 'other', status: 'COMPLETED', output: 'its own' });
    const job = play(
      { posts: ['---------(o|)'], gets: ['(p|)'], replies: { p }, context: { jobIds } },
      ({ at, webhook }) => at(5, () => webhook.call(completed)),
    );
    expect(last(job)?.event).toMatchObject(ofEnd({ status: 'completed', jobId: 'other', output: 'its own' }));
    expect([job.results, job.contradicted]).toStrictEqual([['foreign'], ['j']]);
    // The row whose job it is gets it.
    expect(jobIds.claim({ endpoint: 'e', jobId: 'j', key: 'its row' })).toBeUndefined();
  });

  it('counts by the answer where callbacks name two jobs before it', () => {
    const job = play({ posts: ['---------(a|)'] }, ({ at, webhook }) => {
      at(3, () => webhook.call({ ...completed, id: 'other', output: 'of another row' }));
      at(5, () => webhook.call(completed));
    });
    expect(last(job)).toStrictEqual({ at: 9, event: ofEnd(called) });
    expect(job.results).toStrictEqual(['foreign', 'settled']);
    expect(job.contradicted).toStrictEqual(['other']);
  });

  it.each(['IN_PROGRESS', 'FAILED', 'COMPLETED'])(
    'that names a job of a POST that is said to be refused keeps it from being sent again: %s',
    (status) => {
      const job = play({ posts: ['---------(l|)', '(a|)'], gets: ['(d|)'] }, ({ at, webhook }) =>
        at(5, () => webhook.call({ ...completed, status })),
      );
      expect(job.kinds().filter((kind) => kind === 'run')).toHaveLength(1);
      expect(last(job)).toMatchObject({ at: 9, event: ofEnd({ status: 'completed', jobId: 'j' }) });
    },
  );

  it('changes nothing where the job has another id by the answer', () => {
    const job = play({ posts: ['-(o|)'] }, ({ at, webhook, following }) => {
      at(5, () => webhook.call(completed));
      at(50, () => following.unsubscribe());
    });
    expect(job.results).toStrictEqual(['foreign']);
    expect(job.contradicted).toStrictEqual(['j']);
    expect(last(job)?.event).toStrictEqual({ type: 'status', status: 'IN_QUEUE' });
  });

  it('changes nothing with the id of another job, and the job ends as unknown', () => {
    const jobIds = createJobIds();
    jobIds.claim({ endpoint: 'e', jobId: 'j', key: 'another row' });
    const job = play(
      { posts: ['----#'], context: { jobIds }, webhook: calledWebhook(of(true)) },
      ({ at, webhook }) => at(2, () => webhook.call(completed)),
    );
    expect(job.results).toStrictEqual(['foreign']);
    expect(job.contradicted).toStrictEqual(['j']);
    expect(last(job)?.event).toMatchObject(ofEnd({ code: 'unknown', paid: 'maybe' }));
  });

  it('reports a POST that was refused, and made a job all the same', () => {
    const job = play({ posts: ['-(l|)', '-(a|)'] }, ({ at, webhook }) => {
      at(3, () => webhook.call({ ...completed, id: 'other' }));
      at(20_000, () => webhook.call(completed, 2));
    });
    expect(job.kinds().filter((kind) => kind === 'run')).toHaveLength(2);
    expect(job.contradicted).toStrictEqual(['other']);
    expect(job.results).toStrictEqual(['foreign', 'settled']);
  });

  it.each([
    ['the refusal of its POST', 1, 3],
    ['the intent to send it again', 2, 7],
  ])(
    'that comes while %s becomes durable is reported, and the next POST does not leave',
    (_, nth, called) => {
      inVirtualTime((virtual) => {
        const { scheduler } = virtual;
        let seen = 0;
        const slow = ({ type }: CheckpointEvent<unknown>) =>
          type === (nth === 1 ? 'refused' : 'intent') && (seen += 1) === nth
            ? timer(40, scheduler).pipe(ignoreElements())
            : EMPTY;
        const webhook = calledWebhook();
        const contradicted = (jobId: string) => {
          webhook.webhook.contradicted(jobId);
          job.following.unsubscribe();
        };
        const own = { ...webhook.webhook, contradicted };
        const job = jobIn(virtual, { posts: ['-(l|)', '-(a|)'], spec: { checkpoint: slow, webhook: own } });
        job.at(called, () => webhook.call(completed));
        job.at(called + 33, () => expect(webhook.contradicted).toStrictEqual([]));
        virtual.flush();
        expect(webhook.contradicted).toStrictEqual(['j']);
        expect(job.kinds()).toStrictEqual(['run']);
        expect(webhook.results).toStrictEqual(['foreign']);
      });
    },
  );

  it('informs where its status is no end', () => {
    const progress = { id: 'j', status: 'IN_PROGRESS', output: 'half' };
    const job = play({ posts: ['-(a|)'] }, ({ at, webhook, following }) => {
      at(5, () => webhook.call(progress));
      at(50, () => following.unsubscribe());
    });
    expect(job.results).toStrictEqual(['noted']);
    expect(last(job)).toStrictEqual({
      at: 5,
      event: { type: 'status', status: 'IN_PROGRESS', partial: 'half' },
    });
  });

  it.each(['FAILED', 'CANCELLED', 'TIMED_OUT'])(
    'never proves that nothing was paid: %s is polled at once',
    (status) => {
      const job = play({ posts: ['-(a|)'], gets: ['-(f|)'] }, ({ at, webhook }) =>
        at(5, () => webhook.call({ id: 'j', status, error: 'no' })),
      );
      expect(job.sent.map(({ kind, at }) => [kind, at])).toStrictEqual([
        ['run', 0],
        ['status', 5],
      ]);
      expect(last(job)).toMatchObject({ at: 6, event: ofEnd({ code: 'job-failed', message: /bad url/ }) });
      expect(job.results).toStrictEqual(['settled']);
    },
  );

  it.each([
    ['no JSON', 'nonsense'],
    ['no id', { status: 'COMPLETED' }],
    ['no status', { id: 'j' }],
    ['what was too long', undefined],
  ])('that cannot be read asks for the job at once: %s', (_, body) => {
    const job = play({ posts: ['-(a|)'], gets: ['-(d|)'] }, ({ at, webhook }) =>
      at(5, () => webhook.call(body)),
    );
    expect(job.results).toStrictEqual(['unreadable']);
    expect(last(job)).toMatchObject({ at: 6, event: ofEnd({ output: 'polled' }) });
  });

  it('is answered once the end is durable, and not where that fails', () => {
    inVirtualTime((virtual) => {
      const { scheduler } = virtual;
      const settles = (otherwise: () => Observable<unknown>) => (event: CheckpointEvent<unknown>) =>
        event.type === 'settled' ? timer(40, scheduler).pipe(concatMap(otherwise)) : EMPTY;
      const durable = jobIn(virtual, { posts: ['-(a|)'], spec: { checkpoint: settles(() => EMPTY) } });
      const fails = () => throwError(() => new Error('the disk is full'));
      const failed = jobIn(virtual, {
        posts: ['-(a|)'],
        spec: { checkpoint: settles(fails) },
        isBroken: true,
      });
      durable.at(5, () => durable.webhook.call(completed));
      failed.at(5, () => failed.webhook.call(completed));
      durable.at(44, () => expect(durable.results).toStrictEqual(['…']));
      virtual.flush();
      expect(durable.results).toStrictEqual(['settled']);
      expect(failed.results).toStrictEqual(['late']);
    });
  });

  it('that is no end, and comes before the answer, is answered once the id is durable', () => {
    inVirtualTime((virtual) => {
      const { scheduler } = virtual;
      const slow = ({ type }: CheckpointEvent<unknown>) =>
        type === 'accepted' ? timer(40, scheduler).pipe(ignoreElements()) : EMPTY;
      const job = jobIn(virtual, { posts: ['---------(a|)'], spec: { checkpoint: slow } });
      job.at(5, () => job.webhook.call({ id: 'j', status: 'IN_PROGRESS' }));
      job.at(48, () => expect(job.results).toStrictEqual(['…']));
      job.at(50, () => expect(job.results).toStrictEqual(['noted']));
      job.at(60, () => job.following.unsubscribe());
      virtual.flush();
      expect(job.results).toStrictEqual(['noted']);
    });
  });

  it('that comes twice changes nothing', () => {
    const job = play({ posts: ['-(a|)'], spec: { checkpoint: () => EMPTY } }, ({ at, webhook }) =>
      at(5, () => {
        webhook.call(completed);
        webhook.call({ ...completed, output: 'again' });
      }),
    );
    expect(job.seen.filter(({ event }) => event.type === 'settled')).toHaveLength(1);
    expect(last(job)?.event).toStrictEqual(ofEnd(called));
  });
});

describe('a POST without an answer', () => {
  it('waits for its callback, which ends it', () => {
    const job = play({ posts: ['----#'] }, ({ at, webhook }) => at(500, () => webhook.call(completed)));
    expect(job.seen.map(({ at, event }) => [at, event.type])).toStrictEqual([
      [0, 'submitting'],
      [4, 'waiting'],
      [500, 'settled'],
    ]);
    expect(job.seen[1]?.event).toStrictEqual({ type: 'waiting', why: 'callback', forMs: 59_996 });
    expect(job.kinds()).toStrictEqual(['run']);
  });

  it('ends with the callback that came before: nothing else tells its job', () => {
    const job = play({ posts: ['----#'] }, ({ at, webhook }) => at(2, () => webhook.call(completed)));
    expect(last(job)).toStrictEqual({ at: 4, event: ofEnd(called) });
    expect([job.kinds(), job.results]).toStrictEqual([['run'], ['settled']]);
  });

  it.each([
    ['COMPLETED', 4],
    ['FAILED', 4],
  ])(
    'ends with the one that no other row has where callbacks have named two jobs before: %s',
    (status, end) => {
      const jobIds = createJobIds();
      jobIds.claim({ endpoint: 'e', jobId: 'other', key: 'another row' });
      const job = play({ posts: ['----#'], gets: ['(d|)'], context: { jobIds } }, ({ at, webhook }) => {
        at(1, () => webhook.call({ ...completed, id: 'other', output: 'of another row' }));
        at(2, () => webhook.call({ ...completed, status }));
      });
      const output = status === 'COMPLETED' ? 'called back' : 'polled';
      expect(last(job)).toMatchObject({ at: end, event: ofEnd({ status: 'completed', jobId: 'j', output }) });
      expect([job.results, job.contradicted]).toStrictEqual([['foreign', 'settled'], ['other']]);
    },
  );

  it('takes the first where no other row has either, and claims no second', () => {
    const jobIds = createJobIds();
    const job = play({ posts: ['----#'], context: { jobIds } }, ({ at, webhook }) => {
      at(1, () => webhook.call(completed));
      at(2, () => webhook.call({ ...completed, id: 'other' }));
    });
    expect(last(job)).toStrictEqual({ at: 4, event: ofEnd(called) });
    expect([job.results, job.contradicted]).toStrictEqual([['settled', 'foreign'], ['other']]);
    expect(jobIds.claim({ endpoint: 'e', jobId: 'other', key: 'its row' })).toBeUndefined();
  });

  it('takes the job that is named while another one is being claimed', () => {
    inVirtualTime((virtual) => {
      const { scheduler } = virtual;
      const claim = ({ jobId }: { jobId: string }) => {
        const owner = jobId === 'other' ? 'another row' : undefined;
        return timer(50, scheduler).pipe(
          map(() => owner),
          shareReplay(1),
        ) as unknown as Promise<string | undefined>;
      };
      const job = jobIn(virtual, { posts: ['----#'], context: { jobIds: { claim } } });
      job.at(1, () => job.webhook.call({ ...completed, id: 'other' }));
      job.at(20, () => job.webhook.call(completed));
      virtual.flush();
      expect(last(job)).toStrictEqual({ at: 104, event: ofEnd(called) });
      expect(job.results).toStrictEqual(['foreign', 'settled']);
    });
  });

  it.each([
    ['at once, where a callback has named it before', 2],
    ['as soon as a callback names it', 500],
  ])('is accepted %s, and polled', (_, when) => {
    const job = play({ posts: ['----#'], gets: ['(d|)'] }, ({ at, webhook }) =>
      at(when, () => webhook.call({ id: 'j', status: 'IN_PROGRESS' })),
    );
    expect(job.seen.map(({ event }) => event.type).filter((type) => type !== 'waiting')).toStrictEqual([
      ...['submitting', 'accepted', 'status', 'settled'],
    ]);
    expect(last(job)).toMatchObject({ at: Math.max(when, 4), event: ofEnd({ output: 'polled' }) });
  });

  it('ends as unknown when no callback is to be expected, at its deadline, and when nobody waits for it', () => {
    const unknown = ofEnd({ code: 'unknown', paid: 'maybe' });
    inVirtualTime((virtual) => {
      const givenUp = jobIn(virtual, {
        posts: ['----#'],
        webhook: calledWebhook(timer(100, virtual.scheduler)),
      });
      const overdue = jobIn(virtual, { posts: ['----#'] });
      const settled: unknown[] = [];
      const left = jobIn(virtual, {
        posts: ['----#'],
        spec: {
          checkpoint: (event) => (event.type === 'settled' && settled.push(virtual.scheduler.now()), EMPTY),
        },
      });
      left.at(30, () => left.following.unsubscribe());
      const cancelled = jobIn(virtual, { posts: ['----#'] });
      cancelled.at(40, () => void cancelled.job.cancel());
      virtual.flush();
      expect(last(givenUp)).toMatchObject({ at: 104, event: unknown });
      expect(last(overdue)).toMatchObject({ at: 60_000, event: unknown });
      expect(last(cancelled)).toMatchObject({ at: 40, event: unknown });
      expect(settled).toStrictEqual([30]);
      for (const { kinds } of [givenUp, overdue, left, cancelled]) expect(kinds()).toStrictEqual(['run']);
    });
  });

  /** Given up at 104 ms, while the job that a callback has named is claimed from 100 to 150 ms. */
  const whileClaimed = (virtual: Virtual, claimed: () => string | undefined) => {
    const { scheduler } = virtual;
    const owner$ = timer(50, scheduler).pipe(map(claimed), shareReplay(1));
    const claim = () => owner$ as unknown as Promise<string | undefined>;
    const webhook = calledWebhook(timer(100, scheduler));
    const job = jobIn(virtual, { posts: ['----#'], context: { jobIds: { claim } }, webhook });
    job.at(100, () => webhook.call(completed));
    return job;
  };

  it('that is given up while the job of a callback is being claimed ends with that callback', () => {
    inVirtualTime((virtual) => {
      const job = whileClaimed(virtual, () => undefined);
      virtual.flush();
      expect(last(job)).toStrictEqual({ at: 150, event: ofEnd(called) });
      expect(job.results).toStrictEqual(['settled']);
    });
  });

  it.each([
    ['is another row’s', ['foreign'], () => 'another row'],
    [
      'cannot be claimed',
      ['failed'],
      () => {
        throw new Error('the journal is closed');
      },
    ],
  ])('that is given up meanwhile ends as unknown where the job %s', (_, results, claimed) => {
    inVirtualTime((virtual) => {
      const job = whileClaimed(virtual, claimed);
      virtual.flush();
      expect(last(job)).toMatchObject({ at: 150, event: ofEnd({ code: 'unknown' }) });
      expect(job.results).toStrictEqual(results);
    });
  });

  it('takes no callback that comes while its end as unknown is being written: it is to come again', () => {
    inVirtualTime((virtual) => {
      const { scheduler } = virtual;
      const slow = ({ type }: CheckpointEvent<unknown>) =>
        type === 'settled' ? timer(40, scheduler).pipe(ignoreElements()) : EMPTY;
      const webhook = calledWebhook(timer(100, scheduler));
      const job = jobIn(virtual, { posts: ['----#'], spec: { checkpoint: slow }, webhook });
      job.at(120, () => webhook.call(completed));
      job.at(121, () => webhook.call({ ...completed, status: 'IN_PROGRESS' }));
      virtual.flush();
      expect(last(job)).toMatchObject({ at: 144, event: ofEnd({ code: 'unknown' }) });
      expect(job.results).toStrictEqual(['late', 'late']);
    });
  });
});

describe('the address of a POST', () => {
  it('is another one for each, and a callback about a refused POST changes nothing', () => {
    const job = play({ posts: ['-(l|)', '-(a|)'] }, ({ at, webhook, following }) => {
      at(5, () => webhook.call(completed, 1));
      at(30_000, () => webhook.call(completed, 1));
      at(30_001, () => webhook.call(completed, 2));
      at(40_000, () => following.unsubscribe());
    });
    const bodies = job.sent.filter(({ kind }) => kind === 'run').map(({ body }) => body);
    expect(bodies).toStrictEqual([
      expect.stringContaining(',"webhook":"https://hooks.example/secret-token-1"}'),
      expect.stringContaining(',"webhook":"https://hooks.example/secret-token-2"}'),
    ]);
    expect(job.results).toStrictEqual(['foreign', 'foreign', 'settled']);
  });

  it('is masked where the service echoes it', () => {
    const echo = replied(400, { error: 'cannot reach https://hooks.example/secret-token-1' });
    const job = play({ posts: [], context: { transport: () => of(echo) } }, () => undefined);
    expect(last(job)?.event).toMatchObject(
      ofEnd({ code: 'rejected', message: expect.stringContaining('https://hooks.example/[redacted]') }),
    );
  });
});
