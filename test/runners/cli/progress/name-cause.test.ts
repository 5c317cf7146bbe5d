import { describe, expect, it } from 'vitest';
import { nameCause, type Standing } from '../../../../runners/cli/progress/name-cause.js';

const standing: Standing = {
  movedAt: 0,
  endedAt: 0,
  waits: new Map(),
  inFlight: 8,
  accepted: 0,
  queued: 0,
  isQueueOld: false,
  working: 0,
  saving: 0,
};

describe('nameCause', () => {
  it('is silent for ten seconds', () => {
    expect(nameCause(standing, 9_999)).toBeUndefined();
    expect(nameCause(standing, 10_000)).toBe('no reply for 10 s');
  });

  it.each([
    ['rate-limited', 'rate limited by the service, continuing in 7 s'],
    ['backoff', 'backing off, next try in 7 s'],
    ['gate', 'requests are held back for 7 s'],
  ] as const)('names a wait that was ordered (%s) after two seconds', (why, words) => {
    const waits = new Map([[why, 10_000]]);
    expect(nameCause({ ...standing, waits }, 1_999)).toBeUndefined();
    expect(nameCause({ ...standing, waits }, 3_000)).toBe(words);
  });

  it('names why a request did not get through', () => {
    const waits = new Map([['backoff', 10_000]] as const);
    expect(nameCause({ ...standing, waits, unreached: 'getaddrinfo ENOTFOUND nowhere' }, 3_000)).toBe(
      'backing off, next try in 7 s: getaddrinfo ENOTFOUND nowhere',
    );
  });

  it('names the wait that the service ordered first', () => {
    const waits = new Map([
      ['backoff', 60_000],
      ['rate-limited', 60_000],
    ] as const);
    expect(nameCause({ ...standing, waits }, 30_000)).toContain('rate limited');
  });

  it('tells a queue from work from silence', () => {
    expect(nameCause({ ...standing, queued: 8 }, 20_000)).toBe('queue not moving for 20 s');
    // What the service has not been asked about may have begun.
    for (const unasked of [{ accepted: 1 }, { isQueueOld: true }])
      expect(nameCause({ ...standing, queued: 7, ...unasked }, 20_000)).toBe(
        'no job seen to begin or end for 20 s',
      );
    expect(nameCause({ ...standing, queued: 7, working: 1 }, 20_000)).toBe(
      'jobs at work, none has ended for 20 s',
    );
    expect(nameCause({ ...standing, inFlight: 0, saving: 2 }, 20_000)).toBe(
      'saving results, none has ended for 20 s',
    );
    expect(nameCause({ ...standing, inFlight: 0 }, 20_000)).toBeUndefined();
  });

  it('counts since the last end, also where a job was taken up after it', () => {
    const resumed = { ...standing, movedAt: 30_000, working: 2 };
    expect(nameCause(resumed, 40_000)).toBe('jobs at work, none has ended for 40 s');
    expect(nameCause({ ...resumed, working: 0, inFlight: 0, saving: 1 }, 40_000)).toBe(
      'saving results, none has ended for 40 s',
    );
  });
});
