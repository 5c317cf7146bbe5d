import { lastValueFrom, of, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../../src/operators/requests/ask-until-answered.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { inVirtualTime, replied, requestTo, virtualContext } from '../../../support/virtual-time.js';

const asking = { key: 'k', purpose: 'health', request: requestTo('/v2/e/health', 'GET') } as const;
const retry = { maxRetries: 2, initialMs: 2, factor: 1, maxMs: 2 };

describe('ask', () => {
  it('gives one reading, and is cold', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('--r|', { r: replied(200, { jobs: {} }) });
      const asked = ask(
        asking,
        retry,
        virtualContext(scheduler, () => reply),
      );
      const reading = { status: 200, body: 'value', value: { jobs: {} } };
      expectObservable(asked).toBe('--(v|)', { v: reading });
      expectObservable(asked, '-----^').toBe('-------(v|)', { v: reading });
      expectObservable(asked, '^!').toBe('-');
      expectSubscriptions(reply.subscriptions).toBe(['^-!', '^!', '-----^-!']);
    });
  });

  it('tries again so often, then errors with the last reply or fault', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('(r|)', { r: replied(500, 'oops') });
      const error = expect.objectContaining({ name: 'ServerError', httpStatus: 500 });
      expectObservable(
        ask(
          asking,
          retry,
          virtualContext(scheduler, () => reply),
        ),
      ).toBe('----#', undefined, error);
      expectSubscriptions(reply.subscriptions).toBe(['(^!)', '--(^!)', '----(^!)']);
    });
  });

  it('errors at once with what will not pass', async () => {
    const context = (status: number) =>
      virtualContext(new TestScheduler(() => undefined), () => of(replied(status, 'x')));
    await expect(lastValueFrom(ask(asking, retry, context(401)))).rejects.toMatchObject({
      name: 'UnauthorizedError',
    });
    await expect(lastValueFrom(ask(asking, retry, context(404)))).rejects.toMatchObject({
      name: 'NotFoundError',
    });
    const fault = new TransportError('tls', 'CERT_HAS_EXPIRED', 'no', false, 'expired');
    const broken = virtualContext(new TestScheduler(() => undefined), () => throwError(() => fault));
    await expect(lastValueFrom(ask(asking, retry, broken))).rejects.toBe(fault);
  });
});
