import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkApiKey,
  checkEndpointId,
  checkHttpUrl,
  checkRoutePath,
} from '../../../src/contract/request-parts.js';

describe('checkApiKey', () => {
  it.each(['rpa_ABC123', 'k', '~!@#'])('takes %s', (key) => {
    expect(checkApiKey(key)).toBeUndefined();
  });

  it.each(['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000'])('refuses %j and does not quote it', (key) => {
    expect(checkApiKey(key)).toMatch(
      /^(is empty|contains white space or a character that no header may carry)$/,
    );
  });
});

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
    const part = fc.constantFrom(
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
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const route = parts.join('');
        if (checkRoutePath(route) !== undefined) return;
        const url = new URL(`https://host.example/base/${route.replace(/^\//, '')}`);
        expect(url.host).toBe('host.example');
        expect(url.pathname.startsWith('/base/')).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('checkHttpUrl', () => {
  it.each(['http://a/b.png', 'HTTPS://a.example/b?c=d#e', 'http://127.0.0.1:8080/', 'https://[::1]/x'])(
    'takes %s',
    (url) => {
      expect(checkHttpUrl(url)).toBeUndefined();
    },
  );

  it.each([
    '',
    'a.png',
    '/a.png',
    '//a/b',
    'file:///a',
    'data:image/png;base64,AA',
    'ftp://a',
    'http:a',
    'https://',
    'http://a b',
    'http://a\n',
    ' http://a',
  ])('refuses %j', (url) => {
    expect(checkHttpUrl(url)).toMatch(/^(is|contains) /);
  });
});
