import { describe, expect, it } from 'vitest';
import { checkIdentity } from '../../../../runners/batch/start/start-records.js';

const real = { baseUrl: 'https://a.test', lbBaseUrl: '', local: false };
const rehearsal = { baseUrl: 'http://127.0.0.1:1', lbBaseUrl: 'http://127.0.0.1:1', local: true };

describe('checkIdentity', () => {
  it('takes the first start as it is, and the same again', () => {
    expect(checkIdentity(undefined, real, '/out')).toBe(real);
    expect(checkIdentity(real, real, '/out')).toEqual(real);
  });

  it('lets the emulator change its port', () => {
    expect(checkIdentity(rehearsal, { ...rehearsal, baseUrl: 'http://127.0.0.1:2' }, '/out')).toMatchObject({
      baseUrl: 'http://127.0.0.1:2',
    });
  });

  it('keeps a host that only an earlier start needed', () => {
    const routes = { baseUrl: '', lbBaseUrl: 'https://lb.test', local: false };
    expect(checkIdentity(real, routes, '/out')).toEqual({
      baseUrl: 'https://a.test',
      lbBaseUrl: 'https://lb.test',
      local: false,
    });
  });

  it.each([
    [real, rehearsal],
    [rehearsal, real],
    [real, { ...real, baseUrl: 'https://b.test' }],
    [
      { ...real, lbBaseUrl: 'https://x.test' },
      { ...real, lbBaseUrl: 'https://y.test' },
    ],
  ])('refuses to go on with %j as %j', (earlier, now) => {
    expect(() => checkIdentity(earlier, now, '/out')).toThrow(/\/out holds .* nothing was sent/);
  });
});
