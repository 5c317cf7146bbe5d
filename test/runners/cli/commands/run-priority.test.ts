import { gzipSync } from 'node:zlib';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

const priorities = ['', '2', '-1', '2', '1', ''];
const csv = ['id,input.n,priority', ...priorities.map((cell, n) => `j${n},${n},${cell}`), ''].join('\n');
const inOrder = ['j1', 'j3', 'j4', 'j0', 'j5', 'j2'];

describe('millrace with a column priority', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await writeFile(join(work.folder, 'rows.csv'), csv);
  });
  afterEach(() => work.close());

  const rows = ['--endpoint', 'echo', '--assume-price', '0.01', '--concurrency', '1'];
  const call = (...args: string[]) => work.call(...args, ...rows);
  const ended = async (out = 'out') => (await work.lines(`${out}/results.jsonl`)).map(({ id }) => id);

  it('plans and prices it, in text and JSON', async () => {
    const { stdout } = await call('plan', 'rows.csv');
    expect(stdout).toContain(
      '  priority     first 2 at 2 ($0.02), then 1 at 1 ($0.01), then 2 at 0 ($0.02), then 1 at -1 ($0.01)\n',
    );
    expect(stdout).toMatch(/^ {2}sent +input.n\n {2}not sent +priority$/m);
    const plan = JSON.parse((await call('plan', 'rows.csv', '--json', '--limit', '3')).stdout);
    expect(plan).toMatchObject({
      rows: 3,
      priorities: [
        { priority: 2, rows: 2, cost: { estimated: 0.02, unpriced: 0 } },
        { priority: 1, rows: 1, cost: { estimated: 0.01, unpriced: 0 } },
      ],
    });
    expect((await call('plan', 'rows.csv', '--ignore', 'priority')).stdout).not.toContain('of 2 (');
  });

  it('takes a file, a packed one and stdin by it', async () => {
    await writeFile(join(work.folder, 'packed.csv.gz'), gzipSync(csv));
    await call('run', 'rows.csv', '--out', 'out');
    await call('run', 'packed.csv.gz', '--out', 'packed', '--yes');
    await millrace(['run', '-', '--format', 'csv', '--out', 'piped', '--yes', ...rows], {
      cwd: work.folder,
      env: work.env,
      input: csv,
    });
    for (const out of ['out', 'packed', 'piped']) expect(await ended(out)).toEqual(inOrder);
    const piped = await millrace(['plan', '-', '--format', 'csv', '--limit', '1', '--json', ...rows], {
      cwd: work.folder,
      env: work.env,
      input: csv,
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({ rows: 1, columnsSent: ['input.n'] });
  });

  it('does what a saved plan says, whole and by --limit', async () => {
    await call('plan', 'rows.csv', '--save', 'all.plan');
    expect((await work.call('run', '--plan', 'all.plan', '--out', 'all', '--concurrency', '1')).code).toBe(0);
    expect(await ended('all')).toEqual(inOrder);
    await call('plan', 'rows.csv', '--save', 'some.plan', '--limit', '4');
    for (const expected of [0, 0])
      expect((await work.call('run', '--plan', 'some.plan', '--out', 'some', '--yes')).code).toBe(expected);
    expect((await ended('some')).toSorted()).toEqual(['j0', 'j1', 'j3', 'j4']);
    expect((await work.call('plan', '--plan', 'some.plan')).code).toBe(0);
  });

  it('refuses what is no number, with line, row and column, before anything is sent', async () => {
    await writeFile(join(work.folder, 'rows.csv'), csv.replace('j3,3,2', 'j3,3,high'));
    for (const command of ['plan', 'run']) {
      const { code, stderr } = await call(command, 'rows.csv');
      expect(code).toBe(2);
      expect(stderr).toContain(
        'rows.csv, line 5 (row 4, id "j3"), column priority: "high" is not a whole number from -100 to 100; if the column is only your own, rename it or say so with --ignore priority\n',
      );
    }
    expect(work.emulator.bill()).toEqual([]);
    expect((await call('run', 'rows.csv', '--ignore', 'priority', '--out', 'out')).code).toBe(0);
    expect(await ended()).toEqual(['j0', 'j1', 'j2', 'j3', 'j4', 'j5']);
  });
});
