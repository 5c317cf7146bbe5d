import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isSameHost, thisHost } from '../../../../runners/batch/lock/owner.js';

describe('thisHost', () => {
  it('is the same host each time it is asked', () => {
    expect(thisHost()).toEqual(thisHost());
    expect(thisHost().name).toBe(hostname());
    expect(isSameHost(thisHost(), thisHost())).toBe(true);
  });
});
