import { describe, expect, it } from 'vitest';
import { millrace, startMillrace } from '../../../support/millrace.js';

describe('millrace serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'says where it listens by one JSON line, and ends at %s with 0',
    async (signal) => {
      const { child, ended, prints } = startMillrace(['serve', '--key', 'a-key-of-ours']);
      await prints('apiKey');
      child.kill(signal);
      const end = await ended;
      const { baseUrl, lbBaseUrl, apiKey } = JSON.parse(end.stdout) as Record<string, string>;
      expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(lbBaseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
      expect(apiKey).toBe('a-key-of-ours');
      expect(end).toMatchObject({ code: 0, signal: null, stderr: '' });
      expect(end.stdout.endsWith('\n')).toBe(true);
    },
  );

  it.each(['serve', 'watch'])('ends %s with 0 at a signal that npm passes on', async (command) => {
    const { child, ended, prints } = startMillrace([command, ...(command === 'watch' ? ['.'] : [])]);
    await prints('http://127.0.0.1');
    child.kill('SIGINT');
    child.kill('SIGINT');
    const others = (['SIGINT', 'SIGTERM'] as const).map((name) => setTimeout(() => child.kill(name), 20));
    expect(await ended).toMatchObject({ code: 0, signal: null });
    for (const other of others) clearTimeout(other);
  });

  it('says that a port is taken', async () => {
    const first = startMillrace(['serve']);
    const { baseUrl } = JSON.parse(await first.prints('apiKey')) as { baseUrl: string };
    const port = new URL(baseUrl).port;
    const second = await millrace(['serve', '--port', port]);
    expect(second).toMatchObject({
      code: 2,
      stderr: `error: --port: ${port} is in use: choose another one, or leave it out for any free one\n`,
    });
    first.child.kill();
    await first.ended;
  });
});
