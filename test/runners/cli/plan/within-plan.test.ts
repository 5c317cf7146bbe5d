import { describe, expect, it } from 'vitest';
import { withinPlan } from '../../../../runners/cli/plan/hold-to-plan.js';
import type { Run } from '../../../../runners/batch/context/run.js';
import type { Task } from '../../../../runners/batch/row/task.js';
import type { SavedPlan } from '../../../../runners/cli/plan/saved-plan.js';
import type { StopCause } from '../../../../runners/batch/stop/stops.js';
import { factsWith } from '../../../support/whole-values.js';

const plan = {
  async *rows() {
    for (const id of ['a', 'b', 'c', 'd']) yield { id, row: 1, hash: `of ${id}`, price: 1 };
    await Promise.resolve();
  },
} as Partial<SavedPlan> as SavedPlan;

function send(id: string, hash = `of ${id}`): Task {
  return { what: 'send', attempts: 0, row: factsWith({ id, row: 7, hash }) };
}

async function taken(tasks: Task[]): Promise<{ ids: unknown[]; stops: StopCause[] }> {
  const stops: StopCause[] = [];
  const run = { stops: { stop: (cause: StopCause) => stops.push(cause) } } as unknown as Run;
  const within = withinPlan(plan, async function* () {
    yield* tasks;
    await Promise.resolve();
  });
  const ids = [];
  for await (const task of within(run)) ids.push('row' in task && task.row.id);
  return { ids, stops };
}

describe('withinPlan', () => {
  it('lets pass what is planned, also after rows that have ended', async () => {
    expect(await taken([send('b'), send('d')])).toEqual({ ids: ['b', 'd'], stops: [] });
  });

  it('says that nothing was sent where the first row is another', async () => {
    const { ids, stops } = await taken([send('a', 'of another')]);
    expect(ids).toEqual([]);
    expect(stops).toEqual([
      expect.objectContaining({ exitCode: 2, reason: expect.stringContaining('Nothing was sent') }),
    ]);
  });

  it.each([
    ['changed', send('c', 'of another')],
    ['new', send('x')],
    ['sent twice', send('b')],
  ])('stops the run before a row that is %s since it was compared', async (_what, task) => {
    const { ids, stops } = await taken([send('b'), task]);
    expect(ids).toEqual(['b']);
    expect(stops).toEqual([
      expect.objectContaining({ exitCode: 74, reason: expect.stringContaining('is not in the plan') }),
    ]);
  });
});
