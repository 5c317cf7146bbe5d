import { setImmediate } from 'node:timers/promises';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Line } from '../../../../runners/distributed/database/database-link.js';

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function openLine() {
  const scheduler = new VirtualTimeScheduler();
  const left = new Subject<void>();
  const cut = new Subject<void>();
  const told: string[] = [];
  const line = new Line({
    scheduler,
    random: () => 0.5,
    left,
    cut,
    tell: ({ type }) => void told.push(type),
  });
  /** Lets whatever waits run to its end, so often. */
  const pass = async (times: number): Promise<void> => {
    for (let turn = 0; turn < times; turn++) {
      await setImmediate();
      scheduler.flush();
    }
    await setImmediate();
  };
  return { line, left, cut, told, pass };
}

/** Fails so often, then gives `done`. */
function work(failures: number): () => Promise<string> {
  let calls = 0;
  return () => (calls++ < failures ? Promise.reject(away) : Promise.resolve('done'));
}

describe('the line to a database that is away', () => {
  it.each(['insist', 'look'] as const)(
    '%s tries again until it is back, and tells of it once',
    async (verb) => {
      const { line, told, pass } = openLine();
      const result = line[verb](work(3));
      await pass(4);
      expect(await result).toBe('done');
      expect(told).toEqual(['away', 'back']);
    },
  );

  it('lets who leaves go when nothing is in hand, at once and from then on', async () => {
    const { line, left, pass } = openLine();
    const result = line.look(work(Infinity));
    await pass(2);
    left.next();
    expect(await result).toBeUndefined();
    expect(await line.look(work(Infinity))).toBeUndefined();
  });

  it('holds on to what is in hand although the worker leaves, until the second order', async () => {
    const { line, left, cut, pass } = openLine();
    const kept = line.insist(work(3));
    await pass(1);
    left.next();
    await pass(4);
    expect(await kept).toBe('done');
    const given = line.insist(work(Infinity)).catch((error: unknown) => error);
    await pass(2);
    cut.next();
    expect(await given).toBe(away);
  });

  it.each(['insist', 'look'] as const)('%s hands every other error on', async (verb) => {
    const fault = new Error('syntax error');
    await expect(openLine().line[verb](() => Promise.reject(fault))).rejects.toBe(fault);
  });
});
