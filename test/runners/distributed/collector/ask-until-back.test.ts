import { NEVER, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { askUntilBack } from '../../../../runners/distributed/collector/ask-until-back.js';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

async function askAfter(error: Error): Promise<{ answer: number; told: string[] }> {
  const scheduler = new VirtualTimeScheduler();
  const told: string[] = [];
  const away = () => {
    told.push('away');
    setImmediate(() => scheduler.flush());
  };
  const ask = askUntilBack({ left$: NEVER, scheduler, away, back: () => told.push('back') });
  const answers = [Promise.reject(error), Promise.resolve(42)];
  answers[0]?.catch(() => undefined);
  return { answer: await ask(() => answers.shift() as Promise<number>), told };
}

describe('askUntilBack', () => {
  it.each([
    coded('57P01'),
    coded('ECONNREFUSED'),
    coded('EPIPE'),
    coded('08006'),
    new Error('Connection terminated unexpectedly'),
    new Error('Client has encountered a connection error and is not queryable'),
  ])('asks again after "%s"', async (error) => {
    expect(await askAfter(error)).toEqual({ answer: 42, told: ['away', 'back'] });
  });

  it('gives up a question that is wrong', async () => {
    await expect(askAfter(coded('42703', 'no such column'))).rejects.toThrow('no such column');
  });
});
