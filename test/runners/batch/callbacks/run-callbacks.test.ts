import { lastValueFrom, Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { listenForCallbacks, meaningOf } from '../../../../runners/batch/callbacks/run-callbacks.js';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import type { RowRecords } from '../../../../runners/batch/journal/journal.js';
import type { IntentRecord, OutcomeRecord } from '../../../../runners/batch/journal/record.js';
import { RowInFlight } from '../../../../runners/batch/row/row-in-flight.js';
import type { RowFacts } from '../../../../runners/batch/row/task.js';
import { Stops } from '../../../../runners/batch/stop/stops.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const facts = { id: 'a', kind: 'job', endpoint: 'grind', mode: 'async' } as RowFacts;
const intent = { ...facts, k: 'intent', attempt: 1 } as unknown as IntentRecord;
const unknown: RowRecords = { id: 'a', status: 'unknown', attempts: 1, intent };
const call = { row: 'a', attempt: 1, jobId: 'j' };

/** The callbacks of a run whose journal has this of its row. */
async function openCallbacks(row: RowRecords | undefined, find = () => Promise.resolve(row)) {
  const disk = new ForgetfulDisk({ random: () => 0.5 });
  await disk.mkdir('/out');
  const port = { url: 'http://127.0.0.1:1', pass: () => undefined, close: () => Promise.resolve() };
  const events = new Subject<RunEvent>();
  const warned: string[] = [];
  events.subscribe((event) => event.type === 'warning' && warned.push(`${event.code}: ${event.message}`));
  const listener = await listenForCallbacks({ host: '', port: 0, open: () => Promise.resolve(port) });
  const callbacks = await listener.begin({
    options: { disk, out: '/out', scheduler: new VirtualTimeScheduler(), onUnknown: 'hold' },
    journal: { find },
    log: { write: () => undefined, close: () => Promise.resolve() },
    events,
    stops: new Stops(),
  });
  const meaning = () => lastValueFrom(callbacks.orphan(call), { defaultValue: undefined });
  return { callbacks, meaning, warned };
}

describe('a callback about a row that is not in work', () => {
  it('names the job of a row that an earlier start held', async () => {
    const { callbacks, meaning } = await openCallbacks(unknown);
    expect(await meaning()).toBeUndefined();
    expect([...callbacks.named]).toStrictEqual([['a', { attempt: 1, jobId: 'j' }]]);
  });

  it('names nothing of a row that this start buys again: its end is that of the new purchase', async () => {
    const { callbacks, meaning } = await openCallbacks(unknown);
    callbacks.begin({ what: 'send', row: facts, attempts: 1 });
    expect(await meaning()).toBeUndefined();
    expect(callbacks.named.size).toBe(0);
  });

  it('names the job of the purchase that this start holds, and of no earlier one', async () => {
    const { callbacks, meaning } = await openCallbacks(unknown);
    callbacks.begin({ what: 'send', row: facts, attempts: 1 });
    callbacks.hold('a', { attempt: 2, endpoint: 'grind' });
    expect(await meaning()).toBe('foreign');
    expect(await lastValueFrom(callbacks.orphan({ ...call, attempt: 2 }), { defaultValue: '' })).toBe('');
    expect(callbacks.named.get('a')).toStrictEqual({ attempt: 2, jobId: 'j' });
    callbacks.hold('a', { attempt: 3, endpoint: 'grind' });
    expect(callbacks.named.size).toBe(0);
  });

  it('names the job of a request of this start, while its row waits to be sent again', async () => {
    const { callbacks, meaning, warned } = await openCallbacks(undefined);
    const row = new RowInFlight({ what: 'send', row: facts, attempts: 0 });
    row.take(intent);
    row.take({ k: 'refused', at: 0, id: 'a', why: '429' });
    const found: unknown[] = [];
    const looking = callbacks.jobNamed(row).subscribe(() => found.push(callbacks.takeNamed(row)));
    expect(await meaning()).toBeUndefined();
    expect(found).toMatchObject([{ jobId: 'j', again: { attempts: 1, intent } }]);
    expect(warned).toEqual([expect.stringMatching(/^held: .* row "a", which was to be sent again/)]);
    looking.unsubscribe();
    expect(callbacks.named.get('a')).toMatchObject({ isTaken: true });
  });

  it('names nothing of a request once its row has been sent again', async () => {
    const { callbacks, meaning } = await openCallbacks(undefined);
    const row = new RowInFlight({ what: 'send', row: facts, attempts: 0 });
    row.take(intent);
    row.take({ k: 'refused', at: 0, id: 'a', why: '429' });
    callbacks.useJobIds({
      claim: () => {
        row.take({ ...intent, attempt: 2 });
        return undefined;
      },
    });
    const looking = callbacks.jobNamed(row).subscribe(() => expect.unreachable());
    expect(await meaning()).toBe('foreign');
    looking.unsubscribe();
    expect(callbacks.named.size).toBe(0);
  });

  it('is to be sent again where the run has closed its journal meanwhile: it ends no process', async () => {
    const closed = () => Promise.reject(new Error('file closed'));
    const { callbacks, meaning } = await openCallbacks(unknown, closed);
    expect(await meaning()).toBeUndefined();
    callbacks.hold('a', { attempt: 1, endpoint: 'grind' });
    callbacks.useJobIds({ claim: closed });
    expect(await meaning()).toBeUndefined();
    expect(callbacks.named.size).toBe(0);
  });

  it('names nothing where another row has the job', async () => {
    const { callbacks, meaning, warned } = await openCallbacks(unknown);
    callbacks.useJobIds({ claim: () => 'b' });
    expect(await meaning()).toBe('foreign');
    expect(callbacks.named.size).toBe(0);
    expect(warned).toEqual([expect.stringMatching(/^double: The service names job "j" .* row "a"/)]);
  });

  it('warns once of another job than the one with which its row has ended in an earlier start', async () => {
    const { meaning, warned } = await openCallbacks({ ...unknown, status: 'completed', jobId: 'k' });
    expect([await meaning(), await meaning()]).toEqual(['foreign', 'foreign']);
    expect(warned).toEqual([expect.stringMatching(/^double: The service names job "j"/)]);
  });

  it.each<[string, Partial<RowRecords> | undefined, string | undefined]>([
    ['of no row', undefined, undefined],
    ['of another POST', { attempts: 2 }, 'foreign'],
    ['of a request that was out', { status: 'sent' }, undefined],
    ['of a row that was refused', { status: 'open' }, undefined],
    ['of a job that is polled', { status: 'accepted', jobId: 'j' }, 'noted'],
    ['of another job', { status: 'accepted', jobId: 'k' }, 'foreign'],
    ['of a row that has ended', { status: 'completed', jobId: 'j' }, 'settled'],
    [
      'of a row that has ended, by its purchase',
      { status: 'completed', outcome: { purchase: { jobId: 'j' } } as OutcomeRecord },
      'settled',
    ],
  ])('%s', (_, row, meaning) => {
    expect(meaningOf(row && { ...unknown, ...row }, call, 'retry')).toBe(meaning);
  });
});
