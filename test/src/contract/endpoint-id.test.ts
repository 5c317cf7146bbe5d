import { describe, expect, it } from 'vitest';
import { checkEndpointId } from '../../../src/contract/endpoint-id.js';

describe('checkEndpointId', () => {
  it.each(['image-edit', 'abc123', 'x', 'a.b_c~d', 'A'.repeat(200)])('takes %s', (id) => {
    expect(checkEndpointId(id)).toBeUndefined();
  });

  it.each([
    '',
    '../x',
    '..',
    '.',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a b',
    'a%2e',
    '-a',
    'http://evil',
    'ä',
    'a\n',
    'A'.repeat(201),
  ])('refuses %j', (id) => {
    expect(checkEndpointId(id)).toMatch(/^(is|may)/);
  });
});
