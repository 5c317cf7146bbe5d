import { describe, expect, it } from 'vitest';
import { version } from '../../../src/contract/version.js';
import { wireHeaders } from '../../../src/transport/wire-headers.js';

describe('wireHeaders', () => {
  it('carries the key on every request and the content type with a body', () => {
    expect(wireHeaders('K', true)).toEqual({
      Accept: 'application/json',
      'User-Agent': `millrace/${version}`,
      Authorization: 'Bearer K',
      'Content-Type': 'application/json',
    });
  });

  it('leaves out what there is not', () => {
    expect(Object.keys(wireHeaders(undefined, false))).toEqual(['Accept', 'User-Agent']);
  });
});
