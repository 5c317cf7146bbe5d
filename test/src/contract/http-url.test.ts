import { describe, expect, it } from 'vitest';
import { checkHttpUrl } from '../../../src/contract/http-url.js';

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
