import { describe, expect, it } from 'vitest';
import { serviceSettings } from '../../../../runners/cli/service/service-settings.js';

describe('serviceSettings', () => {
  it('takes options before variables', () => {
    const env = {
      MILLRACE_BASE_URL: 'https://env.example.com/',
      MILLRACE_LB_BASE_URL: 'https://lb.example.com',
    };
    expect(serviceSettings({ baseUrl: 'https://given.example.com' }, env)).toEqual({
      baseUrl: 'https://given.example.com',
      lbBaseUrl: 'https://lb.example.com',
      warnings: [],
    });
  });

  it('names the variable that is wrong', () => {
    expect(() => serviceSettings({}, { MILLRACE_BASE_URL: 'https://x.example.com/v2' })).toThrow(
      'MILLRACE_BASE_URL: "https://x.example.com/v2" ends in /v2',
    );
  });

  it('takes an empty variable for none', () => {
    expect(serviceSettings({}, { MILLRACE_BASE_URL: '' })).toEqual({ warnings: [] });
  });

  it.each(['http://127.0.0.1:80', 'http://localhost', 'http://[::1]:9', 'https://example.com'])(
    'is quiet about %s',
    (baseUrl) => {
      expect(serviceSettings({ baseUrl }, {}).warnings).toEqual([]);
    },
  );

  it('warns loudly of plain http to another machine', () => {
    expect(serviceSettings({ baseUrl: 'http://example.com:8080' }, {}).warnings).toEqual([
      'WARNING: example.com:8080 is addressed by plain http: the API key and all data cross the network unencrypted',
    ]);
  });
});
