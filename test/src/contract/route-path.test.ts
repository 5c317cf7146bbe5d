import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRoutePath } from '../../../src/contract/route-path.js';

describe('checkRoutePath', () => {
  it.each(['echo', '/echo', '/a/b/c', 'a//b', '/info?x=1&y=http://b', '/a:b', '/v1.2/..x', '/ünï'])(
    'takes %s',
    (route) => {
      expect(checkRoutePath(route)).toBeUndefined();
    },
  );

  it.each([
    '',
    '/',
    '//evil',
    '//evil/x',
    'http://evil',
    'HTTPS://evil',
    '/http://evil',
    'javascript:alert(1)',
    '\\\\evil',
    '/\\evil',
    'a\\b',
    '..',
    '/../x',
    '/a/../b',
    '/a/.',
    '/%2e%2e/x',
    '/%2E./x',
    '/a b',
    '/a\tb',
    '/a\nb',
    '/a\u0000',
    '/a#b',
  ])('refuses %j', (route) => {
    expect(checkRoutePath(route)).toBeTypeOf('string');
  });

  it('never lets a route leave its host or its folder', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      ':',
      '@',
      '?',
      '#',
      'a',
      'http',
      '//',
      '\t',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const route = pieces.join('');
        if (checkRoutePath(route) !== undefined) return;
        const url = new URL(`https://host.example/base/${route.replace(/^\//, '')}`);
        expect(url.host).toBe('host.example');
        expect(url.pathname.startsWith('/base/')).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
