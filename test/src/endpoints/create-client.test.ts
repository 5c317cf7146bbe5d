import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../../src/endpoints/client-state.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { clientOver, finished } from '../../support/client-over.js';
import { replied } from '../../support/virtual-time.js';

describe('createClient', () => {
  it('sends nothing by itself', () => {
    const { client, sent } = clientOver(finished);
    client.queue('e').run({});
    client.queue('e').status('j');
    client.routes('https://lb.example.test').get('info');
    expect(sent).toStrictEqual([]);
  });

  it('makes do with its defaults', () => {
    expect(() => createClient()).not.toThrow();
    expect(() => createClient().queue('e')).toThrow('baseUrl: is missing');
  });

  it('refuses a key and a base URL that cannot be used', () => {
    expect(() => createClient({ apiKey: '' })).toThrow('apiKey: is empty');
    const error: unknown = (() => {
      try {
        return createClient({ apiKey: 'canary key' });
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toMatchObject({ code: 'invalid-option' });
    expect(String(error)).not.toContain('canary');
    expect(() => createClient({ baseUrl: 'https://api.example.test/v2' })).toThrow('baseUrl: ends in /v2');
  });

  it('tells activity$ of every event of every job, also of those that nobody watches', async () => {
    const { client } = clientOver((path) =>
      path.endsWith('/run') ? replied(200, { id: 'j', status: 'IN_QUEUE' }) : finished(),
    );
    const seen: Activity[] = [];
    client.activity$.subscribe((activity) => seen.push(activity));
    const job = client.queue('e', { poll: pollFixed(1) }).run({}, { key: 'row-7' });
    await firstValueFrom(job.pipe(toOutcome()));
    await lastValueFrom(client.routes('https://lb.example.test').post('x', {}));
    expect(seen.map(({ type, endpointId, key }) => `${key} ${endpointId} ${type}`)).toStrictEqual([
      'row-7 e submitting',
      'row-7 e accepted',
      'row-7 e status',
      'row-7 e settled',
      'route#1  submitting',
      'route#1  settled',
    ]);
  });

  it('gives activity$ no way to be ended from outside', () => {
    expect(createClient().activity$).not.toHaveProperty('complete');
  });

  it('names jobs apart, and shares nothing with another client', () => {
    const one = clientOver(finished).client;
    const other = clientOver(finished).client;
    const keys = [
      one.queue('a').run({}),
      one.queue('a').run({}),
      one.queue('b').run({}),
      other.queue('a').run({}),
    ];
    expect(keys.map(({ key }) => key)).toStrictEqual(['a#1', 'a#2', 'b#3', 'a#1']);
  });
});
