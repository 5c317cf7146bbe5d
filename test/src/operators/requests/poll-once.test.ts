import { describe, expect, it } from 'vitest';
import { pollOnce, type PollQuestion } from '../../../../src/operators/requests/ask-until-answered.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport } from '../../../../src/transport/transport.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const request = requestTo('/v2/e/status/j', 'GET');
const question: PollQuestion = {
  key: 'k',
  jobId: 'j',
  request,
  backoff: { initialMs: 2, factor: 1, maxMs: 2 },
};
const replies = {
  p: replied(200, { id: 'j', status: 'IN_PROGRESS' }),
  f: replied(500, { status: 'FAILED', error: 'boom' }),
  o: replied(200, { id: 'other', status: 'COMPLETED', output: 1 }),
  h: replied(200, '<html>'),
  n: replied(404, { error: 'job not found' }),
  k: replied(401, { error: 'no such key' }),
  r: replied(302, ''),
};
const scripted = (cold: Virtual['cold'], ...marbles: string[]): Transport => {
  let at = 0;
  return () => cold(marbles[Math.min(at++, marbles.length - 1)]!, replies);
};
const w = { type: 'waiting', why: 'backoff', forMs: 2 };
const ended = (code: string, more: object) => ({
  type: 'ended',
  outcome: { status: 'failed', code, paid: 'maybe', jobId: 'j', ...more },
});

describe('pollOnce', () => {
  it('gives the reply of this job, also a failure under any status and without an id', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const once = (marbles: string) =>
        pollOnce(question, virtualContext(scheduler, scripted(cold, marbles)));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(once('-p|')).toBe('-(p|)', { p: { type: 'replied', job } });
      const failed = { id: 'j', status: 'FAILED', error: 'boom' };
      expectObservable(once('-f|')).toBe('-(f|)', { f: { type: 'replied', job: failed } });
    });
  });

  it('asks again when the reply is about another job, cut or no JSON, and when the way breaks', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const context = virtualContext(scheduler, scripted(cold, 'o', 'h', '#', 'p'));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(pollOnce(question, context)).toBe('w-w-w-(p|)', { w, p: { type: 'replied', job } });
    });
  });

  it('asks about a job of /runsync twice a minute, however long the service wants it to wait [fault 4]', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const busy = () => cold('(b|)', { b: replied(429, '{"error":"slow down"}', { 'retry-after': '600' }) });
      const asked = (sync?: boolean) => pollOnce({ ...question, sync }, virtualContext(scheduler, busy));
      const waits = (forMs: number) => ({ w: { type: 'waiting', why: 'rate-limited', forMs } });
      expectObservable(asked(true), '^ 70s !').toBe('w 29999ms w 29999ms w', waits(30_000));
      expectObservable(asked(), '^ 700s !').toBe('w 599999ms w', waits(600_000));
    });
  });

  const m = { type: 'waiting', why: 'not-found', forMs: 20_000 };
  const slowly = { initialMs: 20_000, factor: 1, maxMs: 20_000 };
  const gone = { message: 'GET /v2/e/status/j: HTTP 404: job not found', httpStatus: 404 };

  it('asks for a minute about a young job that the service does not know, and twice about an older one [fault 8]', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const asked = (more: object, ...marbles: string[]) =>
        pollOnce(
          { ...question, backoff: slowly, ...more },
          virtualContext(scheduler, scripted(cold, ...marbles)),
        );
      const e = ended('expired', gone);
      for (const submittedAt of [undefined, 0, -599_999])
        expectObservable(asked({ submittedAt }, 'n')).toBe('m 19999ms m 19999ms m 19999ms (e|)', { m, e });
      expectObservable(asked({ submittedAt: -600_000 }, 'n')).toBe('m 19999ms (e|)', { m, e });
      const job = { id: 'j', status: 'IN_PROGRESS' };
      const p = { type: 'replied', job };
      expectObservable(asked({}, 'n', 'n', 'p')).toBe('m 19999ms m 19999ms (p|)', { m, p });
    });
  });

  it('takes any JSON object for the word of the service, and a page of a proxy for a fault of the way [fault 8]', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const about = (body: unknown) => {
        const context = virtualContext(scheduler, () => cold('(r|)', { r: replied(404, body) }));
        return pollOnce({ ...question, submittedAt: -600_000 }, context);
      };
      for (const body of [{}, { detail: 'no such job' }, { status: 404, title: 'Not Found' }])
        expectObservable(about(body)).toBe('m-(e|)', {
          m: { ...m, forMs: 2 },
          e: ended('expired', { message: expect.stringContaining('HTTP 404'), httpStatus: 404 }),
        });
      for (const body of ['<html><h1>404 Not Found</h1><hr>nginx</html>', '404 page not found', '', '"gone"'])
        expectObservable(about(body), '^ 20ms !').toBe('w-w-w-w-w-w-w-w-w-w-w', { w });
    });
  });

  it('gives up on a refused key after a few tries, and at once on whom it does not trust', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const refused = virtualContext(scheduler, scripted(cold, 'k'));
      const message = 'GET /v2/e/status/j: HTTP 401: no such key';
      expectObservable(pollOnce(question, refused)).toBe('w-w-w-(e|)', {
        w,
        e: ended('unauthorized', { message, httpStatus: 401 }),
      });
      const hiccup = virtualContext(scheduler, scripted(cold, 'k', 'k', 'p'));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(pollOnce(question, hiccup)).toBe('w-w-(p|)', { w, p: { type: 'replied', job } });
      const redirected = virtualContext(scheduler, scripted(cold, '-r|'));
      expectObservable(pollOnce(question, redirected)).toBe('-(e|)', {
        e: ended('insecure', { message: expect.stringContaining('redirects'), httpStatus: 302 }),
      });
      const fault = new TransportError('tls', 'CERT_HAS_EXPIRED', 'no', false, 'the certificate has expired');
      const impostor = virtualContext(scheduler, () => cold('-#', undefined, fault));
      expectObservable(pollOnce(question, impostor)).toBe('-(e|)', {
        e: ended('insecure', { message: 'the certificate has expired' }),
      });
    });
  });

  it('counts refused keys anew for each poll, and unsubscribes early', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('--p|', replies);
      expectObservable(
        pollOnce(
          question,
          virtualContext(scheduler, () => reply),
        ),
        '^!',
      ).toBe('-');
      expectSubscriptions(reply.subscriptions).toBe('^!');
    });
  });
});
