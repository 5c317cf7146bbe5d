import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isSameHost } from '../../../../runners/batch/lock/owner.js';
import { thisHost } from '../../../../runners/batch/lock/this-host.js';

describe('thisHost', () => {
  it('is the same host each time it is asked', () => {
    expect(thisHost()).toEqual(thisHost());
    expect(thisHost().name).toBe(hostname());
    expect(isSameHost(thisHost(), thisHost())).toBe(true);
  });
});
