import { describe, expect, it } from 'vitest';
import { destinationOf, proxyRules } from '../../../src/transport/connections/proxy-rules.js';

const env = {
  HTTPS_PROXY: 'http://secure.test:3128',
  http_proxy: 'plain.test:8080',
  HTTP_PROXY: 'http://other.test',
};
const proxyOf = (url: string, more: Record<string, string> = {}) =>
  proxyRules({ ...env, ...more })(destinationOf(new URL(url)))?.host;

describe('proxyRules', () => {
  it('goes by the scheme, takes small letters first, and a proxy without a scheme', () => {
    expect(proxyOf('https://api.example.com/x')).toBe('secure.test:3128');
    expect(proxyOf('http://api.example.com/x')).toBe('plain.test:8080');
    expect(proxyRules({})(destinationOf(new URL('https://a.test')))).toBeUndefined();
  });

  it.each(['http://localhost:1', 'http://127.0.0.1', 'https://[::1]:3', 'http://a.localhost'])(
    'spares %s',
    (url) => {
      expect(proxyOf(url)).toBeUndefined();
    },
  );

  it.each([
    ['https://example.com', 'example.com', true],
    ['https://api.example.com', 'other.test, .example.com', true],
    ['https://api.example.com', '*.EXAMPLE.com', true],
    ['https://notexample.com', 'example.com', false],
    ['https://api.example.com:444', 'example.com:443', false],
    ['https://api.example.com', 'example.com:443', true],
    ['https://10.0.0.1', '10.0.0.1', true],
    ['https://10.0.0.1', '0.0.1', false],
    ['https://[fd00::1]', '[fd00::1]', true],
    ['https://anything.test', '*', true],
  ])('%s under NO_PROXY=%s: %s', (url, spared, isSpared) => {
    expect(proxyOf(url, { NO_PROXY: spared }) === undefined).toBe(isSpared);
  });

  it('refuses what is no address, and tells nothing of it', () => {
    for (const bad of ['socks5://canary:1', 'http://user:canary@', 'http://canary:port'])
      expect(() => proxyRules({ HTTPS_PROXY: bad })).toThrow(/^HTTPS_PROXY: is not an address of a proxy/);
  });
});
