import { describe, expect, it } from 'vitest';
import { groupFailures } from '../../../../runners/cli/messages/group-failures.js';

describe('groupFailures', () => {
  it('puts equal causes together, whatever their ids, numbers and addresses', () => {
    const groups = groupFailures();
    groups.take({
      id: 'cat',
      code: 'job-failed',
      message: 'job 4f1e-u1 of cat: cannot read https://a/1.png',
    });
    groups.take({ id: 'dog', code: 'rejected', message: 'images[0] is bad' });
    groups.take({
      id: 'owl',
      code: 'job-failed',
      message: 'job 77ab-u9 of owl: cannot read https://b/2.png',
    });
    expect(groups.list()).toEqual([
      {
        code: 'job-failed',
        message: 'job 4f1e-u1 of cat: cannot read https://a/1.png',
        count: 2,
        ids: ['cat', 'owl'],
      },
      { code: 'rejected', message: 'images[0] is bad', count: 1, ids: ['dog'] },
    ]);
  });

  it('takes an id for one only where it stands as a word', () => {
    const groups = groupFailures();
    for (const id of ['a', 'b', 'run', '(x.)'])
      groups.take({ id, code: 'unknown', message: 'POST /v2/e/runsync: not readable as an accepted job' });
    for (const id of ['lake (1)', 'boat (2)'])
      groups.take({ id, code: 'rejected', message: `${id}: bad image` });
    expect(groups.list()).toMatchObject([
      { code: 'unknown', count: 4, ids: ['a', 'b', 'run', '(x.)'] },
      { code: 'rejected', count: 2 },
    ]);
  });

  it('keeps codes apart that say the same', () => {
    const groups = groupFailures();
    groups.take({ id: 'a', code: 'deadline', message: undefined });
    groups.take({ id: 'b', code: 'unknown', message: undefined });
    expect(groups.list()).toHaveLength(2);
  });

  it('stays small over a million different texts', () => {
    const groups = groupFailures();
    const letters = (n: number) =>
      n.toString(36).replace(/\d/g, (digit) => 'zyxwvutsrq'[Number(digit)] ?? '');
    for (let n = 0; n < 5_000; n += 1)
      groups.take({ id: `id-${n}`, code: 'job-failed', message: `cause ${letters(n)}` });
    const list = groups.list();
    expect(list.length).toBeLessThanOrEqual(201);
    expect(list.reduce((sum, group) => sum + group.count, 0)).toBe(5_000);
    expect(list[0]?.message).toBeUndefined();
  });

  it('shows no control characters of the service', () => {
    const groups = groupFailures();
    groups.take({ id: 'a', code: 'job-failed', message: 'x\u001b[2Jy' });
    expect(groups.list()[0]?.message).toBe('xy');
  });
});
