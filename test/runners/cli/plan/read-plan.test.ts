import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../../runners/cli/plan/saved-plan.js';
import { openWorkplace } from '../../../support/workplace.js';

const head = { millrace: 'plan', version: 1, madeAt: '2026-11-21T12:00:00.000Z', options: { local: true } };
const manifest = { name: 'rows.jsonl', path: null, format: 'jsonl' };
const rows = [
  { id: 'a', row: 1, hash: 'abc', price: 10_000 },
  { id: 'b\u2028', row: 2, hash: 'abd', price: null },
];
const lines = [{ ...head, manifest }, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('');
const sum = createHash('sha256').update(lines).digest('hex');
const foot = { rows: 2, invalid: 0, manifest: 'f00', estimated: 10_000, unpriced: 1, lines: sum };
const whole = `${lines}${JSON.stringify(foot)}\n`;

describe('readPlan', () => {
  it('reads what was saved', async () => {
    const work = await openWorkplace();
    await writeFile(join(work.folder, 'p'), whole);
    const plan = await readPlan(join(work.folder, 'p'), 'p');
    expect(plan).toMatchObject({
      name: 'p',
      head: { options: { local: true } },
      foot: { estimated: 10_000 },
    });
    expect(await lastValueFrom(from(plan.rows()).pipe(toArray()))).toEqual(rows);
    await work.remove();
  });

  it.each([
    ['a cut one', whole.slice(0, -30), 'is cut short'],
    ['one whose end is gone', lines, 'is cut short'],
    ['one without a row', whole.replace(/\n.*?\n/, '\n'), 'is not as it was saved'],
    ['another price', whole.replace('"price":10000', '"price":20000'), 'is not as it was saved'],
    [
      'a later version',
      whole.replace('"version":1', '"version":2'),
      'is not a plan that this millrace has saved',
    ],
    ['something else', '{}\n', 'is not a plan that this millrace has saved'],
    ['nothing', '', 'is not a plan that this millrace has saved'],
  ])('refuses %s', async (_what, text, why) => {
    const work = await openWorkplace();
    await writeFile(join(work.folder, 'p'), text);
    await expect(readPlan(join(work.folder, 'p'), 'p')).rejects.toThrow(
      `--plan: "p" ${why}: nothing was sent`,
    );
    await work.remove();
  });

  it('refuses a file that is not there, and a folder', async () => {
    await expect(readPlan('/nowhere/p', 'p')).rejects.toThrow('--plan: "p" does not exist: nothing was sent');
    await expect(readPlan('/', 'p')).rejects.toThrow('--plan: "p" cannot be read (EISDIR): nothing was sent');
  });
});
