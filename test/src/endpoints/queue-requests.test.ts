import { describe, expect, it } from 'vitest';
import { queueRequests } from '../../../src/endpoints/wire-requests.js';

const requests = queueRequests('canary-key-0123', 'https://api.example.test/v2/e');
const id = 'a/b c?d';

describe('queueRequests', () => {
  it('names every call of a queue endpoint, ids encoded', () => {
    const all = [
      requests.run('{}'),
      requests.runSync('{}', 60_000),
      requests.runSync('{}', 60_000, 5_000),
      ...[requests.status(id), requests.status(id, 1_000), requests.stream(id)],
      ...[requests.cancel(id), requests.retry(id), requests.health(), requests.purgeQueue()],
    ];
    expect(
      all.map(({ method, url, paid }) => `${method} ${url.slice(30)}${paid ? ' paid' : ''}`),
    ).toStrictEqual([
      'POST run paid',
      'POST runsync paid',
      'POST runsync?wait=5000 paid',
      'GET status/a%2Fb%20c%3Fd',
      'GET status-sync/a%2Fb%20c%3Fd?wait=1000',
      'GET stream/a%2Fb%20c%3Fd',
      'POST cancel/a%2Fb%20c%3Fd',
      'POST retry/a%2Fb%20c%3Fd paid',
      'GET health',
      'POST purge-queue',
    ]);
  });

  it('gives a held request longer than it is held', () => {
    const responseMs = (waitMs?: number) => requests.runSync('{}', 60_000, waitMs).timeouts.responseMs;
    expect([responseMs(), responseMs(5_000), responseMs(300_000)]).toStrictEqual([60_000, 60_000, 310_000]);
    expect(requests.status(id, 300_000).timeouts.responseMs).toBe(310_000);
    expect(requests.status(id, 1_000).timeouts.responseMs).toBe(60_000);
  });
});
