import { describe, expect, it } from 'vitest';
import { causeOf } from '../../../../runners/report/survey/cause-of.js';

const same = (a: string, b: string): boolean => causeOf({ message: a }) === causeOf({ message: b });

describe('causeOf', () => {
  it.each([
    ['CUDA out of memory. Tried to allocate 2.30 GiB', 'CUDA out of memory. Tried to allocate 14.00 GiB'],
    [
      'Failed to download image from https://a.test/1.png: 404 Not Found',
      'Failed to download image from https://a.test/x/2.jpg?s=1: 404 Not Found',
    ],
    ['job 3f2a9c1e-77aa-4bd2-9e0b-1234567890ab is gone', 'job 9b2a9c1e-77aa-4bd2-9e0b-aaaaaaaaaaaa is gone'],
    ['job sync-9e3779b1-0001-u1 failed', 'job sync-13c6ef36-0002-u1 failed'],
    ['took 60000 ms', 'took  61 ms'],
  ])('is the same for %j and %j', (a, b) => expect(same(a, b)).toBe(true));

  it.each([
    ['HTTP 500 from the endpoint', 'HTTP 502 from the endpoint'],
    ['GET /v1/x: reset', 'GET /v2/x: reset'],
    [
      'Failed to download image from https://a.test/1.png: 404 Not Found',
      'Failed to download image from https://a.test/1.png: 403 Forbidden',
    ],
    [
      'Failed to download image from https://a.test/1.png',
      'Failed to download image from https://b.test/1.png',
    ],
    ['resolution must be one of 1k, 2k, 4k', 'aspect_ratio must be a ratio'],
  ])('differs for %j and %j', (a, b) => expect(same(a, b)).toBe(false));

  it('reads well', () => {
    expect(causeOf({ message: 'Tried to allocate 2.30 GiB on device 0: see https://a.test/faq/12.' })).toBe(
      'Tried to allocate … GiB on device …: see https://a.test/….',
    );
  });

  it('takes an error without a message', () => expect(causeOf({})).toBe(''));

  it('does not take long over a long message', () => {
    expect(causeOf({ message: 'a-'.repeat(200_000) }).length).toBeLessThanOrEqual(600);
    expect(causeOf({ message: `https://${'a'.repeat(300)}${'.'.repeat(290)}` }).length).toBeLessThanOrEqual(
      620,
    );
  });
});
