import { describe, expect, it } from 'vitest';
import { checkIdentity } from '../../../../runners/batch/start/check/check-identity.js';
import type { JournalRecord, RunIdentity } from '../../../../runners/batch/journal/record.js';
import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { echoJobs, openRehearsal } from '../../../support/rehearsal.js';
import { startEmulator } from '../../../../runners/emulator/index.js';

const real = { baseUrl: 'https://a.test', lbBaseUrl: '', local: false };
const rehearsal = { baseUrl: 'http://127.0.0.1:1', lbBaseUrl: 'http://127.0.0.1:1', local: true };
const accepted = { k: 'accepted', at: 0, id: 'r1', jobId: 'j1' } as JournalRecord;

describe('checkIdentity', () => {
  const check = (earlier: RunIdentity | undefined, now: RunIdentity, ...records: JournalRecord[]) =>
    checkIdentity(journalOf(earlier, records), now, '/out');

  it('takes the first start as it is, and the same again', async () => {
    expect(await check(undefined, real, accepted)).toEqual({ identity: real, left: [] });
    expect(await check(real, real, accepted)).toEqual({ identity: real, left: [] });
  });

  it('lets the emulator change its port', async () => {
    const moved = { ...rehearsal, baseUrl: 'http://127.0.0.1:2' };
    expect(await check(rehearsal, moved, accepted)).toEqual({ identity: moved, left: [] });
  });

  it('keeps a host that only an earlier start needed', async () => {
    const routes = { baseUrl: '', lbBaseUrl: 'https://lb.test', local: false };
    expect((await check(real, routes, accepted)).identity).toEqual({
      baseUrl: 'https://a.test',
      lbBaseUrl: 'https://lb.test',
      local: false,
    });
  });

  it.each([
    [real, rehearsal],
    [rehearsal, real],
    [real, { ...real, baseUrl: 'https://b.test' }],
    [
      { ...real, lbBaseUrl: 'https://x.test' },
      { ...real, lbBaseUrl: 'https://y.test' },
    ],
  ])('refuses to go on with %j as %j', async (earlier, now) => {
    await expect(check(earlier, now, accepted)).rejects.toThrow(/\/out holds .* nothing was sent/);
  });

  const misspelt = { ...real, baseUrl: 'https://aa.test' };
  const failed = (code: string) => ({ k: 'outcome', id: 'r1', status: 'failed', error: { code } });

  it('takes the right host after a misspelt one that accepted nothing', async () => {
    const refused = { k: 'refused', at: 0, id: 'r1', why: 'no connection' } as JournalRecord;
    const invalid = failed('invalid-row') as JournalRecord;
    expect(await check(misspelt, real, refused, invalid)).toEqual({
      identity: real,
      left: ['https://aa.test'],
    });
  });

  it.each([
    ['a job was accepted', accepted],
    ['a route has answered', { k: 'reply', id: 'r1' }],
    ['a request may have been accepted', failed('unknown')],
    ['a function has run', failed('route-failed')],
    [
      'a person has said that a request was not sent',
      { k: 'refused', id: 'r1', why: 'settled by hand: never' },
    ],
  ])('stays with a host where %s', async (_what, record) => {
    await expect(check(misspelt, real, record as JournalRecord)).rejects.toThrow(/https:\/\/aa\.test/);
  });

  it('stays with a host that has a request without an answer', async () => {
    const journal = journalOf(misspelt, []);
    const pending = new Map([['r1', { status: 'sent', intent: { request: { kind: 'edit' } } }]]);
    const recovered = { ...journal.recovered, pending } as unknown as Journal['recovered'];
    await expect(checkIdentity({ ...journal, recovered }, real, '/out')).rejects.toThrow(/aa\.test/);
  });
});

function journalOf(
  identity: RunIdentity | undefined,
  records: readonly JournalRecord[],
): Pick<Journal, 'recovered' | 'records'> {
  const recovered = { ...(identity && { identity }), pending: new Map(), repairs: 0 };
  return {
    recovered: recovered as unknown as Journal['recovered'],
    async *records() {
      yield* records;
    },
  };
}

describe('a run that was begun at the wrong host', () => {
  it('goes on at the right one and says so, and is bound to it once something is bought', async () => {
    const work = await openRehearsal();
    const stranger = await startEmulator({ key: 'a-key-of-theirs' });
    try {
      await work.write('rows.jsonl', echoJobs(2));
      const wrong = await work.call('run', 'rows.jsonl', '--base-url', stranger.baseUrl);
      expect(wrong.code).toBe(4);
      const right = await work.call('run', 'rows.jsonl');
      expect(right).toMatchObject({ code: 0 });
      expect(right.stderr).toContain(`warning: Earlier starts of this run were against ${stranger.baseUrl}`);
      expect(work.emulator.bill()).toHaveLength(2);
      const back = await work.call('run', 'rows.jsonl', '--base-url', stranger.baseUrl);
      expect(back.code).toBe(2);
      expect(back.stderr).toContain('nothing was sent');
    } finally {
      await stranger.close();
      await work.close();
    }
  });
});
