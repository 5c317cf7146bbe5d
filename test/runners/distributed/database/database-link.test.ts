import { setImmediate } from 'node:timers/promises';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { DatabaseLink } from '../../../../runners/distributed/database/database-link.js';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function openLink() {
  const scheduler = new VirtualTimeScheduler();
  const left = new Subject<void>();
  const cut = new Subject<void>();
  const events: string[] = [];
  const link = new DatabaseLink({
    shown: 'of the run',
    scheduler,
    random: () => 0.5,
    left,
    cut,
    notify: ({ type }) => void events.push(type),
  });
  /** Runs everything that waits, this many times. */
  const pass = async (times: number): Promise<void> => {
    for (let turn = 0; turn < times; turn++) {
      await setImmediate();
      scheduler.flush();
    }
    await setImmediate();
  };
  return { link, left, cut, events, pass };
}

/** Fails this many times, then resolves to `done`. */
function work(failures: number): () => Promise<string> {
  let calls = 0;
  return () => (calls++ < failures ? Promise.reject(away) : Promise.resolve('done'));
}

describe('the link to a database that is away', () => {
  it.each(['insist', 'look'] as const)(
    '%s tries again until it is back, and reports it once',
    async (verb) => {
      const { link, events, pass } = openLink();
      const result = link[verb](work(3));
      await pass(4);
      expect(await result).toBe('done');
      expect(events).toEqual(['away', 'back']);
    },
  );

  it('gives a look up when the worker leaves, at once and from then on', async () => {
    const { link, left, pass } = openLink();
    const result = link.look(work(Infinity));
    await pass(2);
    left.next();
    expect(await result).toBeUndefined();
    expect(await link.look(work(Infinity))).toBeUndefined();
  });

  it('insists although the worker leaves, until it is cut', async () => {
    const { link, left, cut, pass } = openLink();
    const kept = link.insist(work(3));
    await pass(1);
    left.next();
    await pass(4);
    expect(await kept).toBe('done');
    const given = link.insist(work(Infinity)).catch((error: unknown) => error);
    await pass(2);
    cut.next();
    expect(await given).toBe(away);
  });

  it.each(['insist', 'look'] as const)('%s rejects with every other error', async (verb) => {
    const fault = new Error('syntax error');
    await expect(openLink().link[verb](() => Promise.reject(fault))).rejects.toBe(fault);
  });

  it.each([
    coded('57P01'),
    coded('ECONNREFUSED'),
    coded('EPIPE'),
    coded('08006'),
    new Error('Connection terminated unexpectedly'),
    new Error('Client has encountered a connection error and is not queryable'),
  ])('asks again after "%s"', async (error) => {
    const { link, events, pass } = openLink();
    const answers = [() => Promise.reject(error), () => Promise.resolve(42)];
    const answer = link.insist(() => answers.shift()?.() ?? Promise.reject(error));
    await pass(2);
    expect({ answer: await answer, events }).toEqual({ answer: 42, events: ['away', 'back'] });
  });

  it('gives up a question that is wrong', async () => {
    const wrong = () => Promise.reject(coded('42703', 'no such column'));
    await expect(openLink().link.insist(wrong)).rejects.toThrow('no such column');
  });

  it('is back once all that waited was done: a full disk answers questions, and takes no records', async () => {
    const { link, events, pass } = openLink();
    const full = coded('53100', 'No space left on device');
    let calls = 0;
    const written = link.insist(() => (calls++ < 3 ? Promise.reject(full) : Promise.resolve('written')));
    for (let turn = 0; turn < 3; turn++) {
      await setImmediate();
      expect(await link.look(work(0))).toBe('done');
      expect(events).toEqual(['away']);
    }
    await pass(1);
    expect([await written, events]).toEqual(['written', ['away', 'back']]);
  });

  it('is back where the answer to what waited last is an error of another kind', async () => {
    const { link, events, pass } = openLink();
    const fault = new Error('the seat is lost');
    let calls = 0;
    const written = link
      .insist(() => Promise.reject(calls++ === 0 ? away : fault))
      .catch((error: unknown) => error);
    await setImmediate();
    expect(await link.look(work(0))).toBe('done');
    await pass(1);
    expect([await written, events]).toEqual([fault, ['away', 'back']]);
  });

  it('asks again at once where another question was answered', async () => {
    const { link, events } = openLink();
    const waiting = link.insist(work(1));
    await setImmediate();
    expect(await link.insist(work(0))).toBe('done');
    expect(await waiting).toBe('done');
    expect(events).toEqual(['away', 'back']);
  });
});
