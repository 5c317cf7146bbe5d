import { describe, expect, it } from 'vitest';
import { causeOf, groupFailures } from '../../../../runners/report/messages/group-failures.js';

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
      message: 'job 77ab-u9 of owl: cannot read https://a/2.png',
    });
    expect(groups.list()).toMatchObject([
      {
        code: 'job-failed',
        message: undefined,
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
});

const same = (a: string, b: string): boolean => causeOf(a) === causeOf(b);

describe('causeOf', () => {
  it.each([
    ['CUDA out of memory. Tried to allocate 2.30 GiB', 'CUDA out of memory. Tried to allocate 14.00 GiB'],
    [
      'Failed to download image from https://a.test/1.png: 404 Not Found',
      'Failed to download image from https://a.test/x/2.jpg?s=1: 404 Not Found',
    ],
    ['job 3f2a9c1e-77aa-4bd2-9e0b-1234567890ab is gone', 'job 9b2a9c1e-77aa-4bd2-9e0b-aaaaaaaaaaaa is gone'],
    ['job sync-9e3779b1-0001-u1 failed', 'job sync-13c6ef36-0002-u1 failed'],
    ['took 60000 ms', 'took  61 ms'],
  ])('is the same for %j and %j', (a, b) => expect(same(a, b)).toBe(true));

  it.each([
    ['HTTP 500 from the endpoint', 'HTTP 502 from the endpoint'],
    ['GET /v1/x: reset', 'GET /v2/x: reset'],
    [
      'Failed to download image from https://a.test/1.png: 404 Not Found',
      'Failed to download image from https://a.test/1.png: 403 Forbidden',
    ],
    [
      'Failed to download image from https://a.test/1.png',
      'Failed to download image from https://b.test/1.png',
    ],
    ['resolution must be one of 1k, 2k, 4k', 'aspect_ratio must be a ratio'],
  ])('differs for %j and %j', (a, b) => expect(same(a, b)).toBe(false));

  it('reads well', () => {
    expect(causeOf('Tried to allocate 2.30 GiB on device 0: see https://a.test/faq/12.')).toBe(
      'Tried to allocate … GiB on device …: see https://a.test/….',
    );
  });

  it('names no job, however short its id is', () => {
    const lost = (jobId: string): string =>
      causeOf(`job "${jobId}" of row 7 is gone: a new one`, 'ash', jobId);
    expect(new Set(['ab12', '7', 'a', 'a.b', 'x-1'].map(lost))).toEqual(
      new Set(['job "…" of row … is gone: a new one']),
    );
    const groups = groupFailures();
    for (const jobId of ['q7', 'q8'])
      groups.take({ id: jobId, code: 'job-failed', message: `job ${jobId} failed`, jobId });
    expect(groups.list()).toMatchObject([{ count: 2, wording: 'job … failed' }]);
  });

  it('takes an error without a message', () => expect(causeOf('')).toBe(''));

  it('names no row: invalid rows with one cause are one group, whatever their ids', () => {
    const invalid = (id: string, row: number): string =>
      causeOf(`line ${row + 1} (row ${row}, id ${JSON.stringify(id)}), column prompt: is missing`, id);
    expect(new Set(['ash', 'birch', 'a "b"'].map(invalid))).toEqual(new Set(['column prompt: is missing']));
    const twice = (row: number): string =>
      ['endpoint', 'prompt']
        .map((name) => `line ${row} (row ${row}, id "ash"), column ${name}: is missing`)
        .join('; ');
    expect(causeOf(twice(7), 'ash')).toBe('column endpoint: is missing; column prompt: is missing');
    expect(causeOf('ash: image 1: not found', 'ash')).toBe(causeOf('birch: image 2: not found', 'birch'));
  });

  it('does not take long over a long message', () => {
    expect(causeOf('a-'.repeat(200_000)).length).toBeLessThanOrEqual(600);
    expect(causeOf(`https://${'a'.repeat(300)}${'.'.repeat(290)}`).length).toBeLessThanOrEqual(620);
  });
});
