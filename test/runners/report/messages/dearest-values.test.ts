import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { costsByText } from '../../../../runners/cli/messages/value-text.js';
import { renderFigures } from '../../../../runners/report/render-page.js';
import { viewReport, type ReportView } from '../../../../runners/report/report-view.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { addCostsBy, sumsOf } from '../../../support/add-costs-by.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';
import { reportFolder } from '../../../support/report-folder.js';

const parts = await pageParts();

type By = Parameters<typeof addCostsBy>[1];
async function viewOf(by?: By, caps?: Readonly<Record<string, number>>): Promise<ReportView> {
  const folder = join(await reportFolder(), 'edits.out');
  await makeRun({ folder, rows: 12, pictures: false });
  if (by !== undefined) await addCostsBy(folder, by, caps);
  return viewReport(await surveyRun(nodeDisk, folder), []);
}

const customers: By = {
  customer: {
    values: {
      // A name that looks like a number comes first in JSON, whatever it cost.
      '2024': sumsOf({ completed: 1, reported: 0.0875 }),
      beta: sumsOf({
        completed: 3,
        failed: 5,
        held: 2,
        undownloaded: 2,
        reported: 0.2625,
        estimated: 0.13,
        unknown: 0.175,
      }),
      '': sumsOf({ completed: 4, reported: 0.35 }),
      '\0': sumsOf({ completed: 1, reported: 0.000001 }),
    },
    others: { values: 7, ...sumsOf({ completed: 1200, failed: 1, reported: 0.01 }) },
  },
};

describe('what rows have cost by the values of a column', () => {
  it('stands in the report dearest first, with rows, money and the cap of the latest start', async () => {
    const { byValue } = await viewOf(customers, { customer: 20 });
    expect(byValue.map(({ column, cap }) => [column, cap])).toEqual([['customer', '$20.00']]);
    const lines = byValue[0]!.lines.map((line) => Object.values(line));
    expect(lines).toEqual([
      ['beta', '', '3', '1', '2', '2', 'about $0.3925', '$0.175'],
      ['(none)', '', '4', '–', '–', '–', '$0.35', '–'],
      ['2024', '', '1', '–', '–', '–', '$0.0875', '–'],
      ['others', '', '1', '–', '–', '–', '$0.000001', '–'],
      ['7 others', '', '1,200', '1', '–', '–', '$0.01', '–'],
    ]);
  });

  it('has the order, the names and the rest of the terminal', async () => {
    const { byValue } = await viewOf(customers);
    const terminal = costsByText({ by: customers });
    expect(terminal.map((line) => line.replace(/^ *(by customer +)?/, '').split(':')[0])).toEqual(
      byValue[0]!.lines.map(({ name }) => name),
    );
    expect(terminal[0]).toContain(
      'beta: $0.2625 reported, $0.13 estimated, $0.175 in doubt, 3 rows completed',
    );
    expect(terminal[0]).toMatch(/, 1 failed, 2 not downloaded, 2 rows in doubt$/);
  });

  it('shows fifty values, and all others in one line', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`c${n}`, sumsOf({ completed: 1, reported: (100 - n) / 100 })]),
    );
    const others = { values: 3, ...sumsOf({ completed: 3, reported: 0.01 }) };
    const [table] = (await viewOf({ customer: { values, others } })).byValue;
    expect(table!.lines).toHaveLength(51);
    expect(table!.lines[49]).toMatchObject({ name: 'c49', spent: '$0.51' });
    // 0.50 + 0.49 + … + 0.01, and 0.01 of those that the summary does not keep apart.
    expect(table!.lines[50]).toMatchObject({ name: '53 others', completed: '53', spent: '$12.76' });
  });

  it('makes no markup of what a manifest says, and cuts no sign in two', async () => {
    const evil = '<img src=x onerror="alert(1)">';
    const faces = '🙂'.repeat(225);
    const values = {
      [evil]: sumsOf({ completed: 1, reported: 5 }),
      [faces]: sumsOf({ completed: 1, reported: 4 }),
      'two\nlines\u202e': sumsOf({ completed: 1, reported: 3 }),
    };
    const html = renderFigures(parts, await viewOf({ [evil]: { values } }));
    expect(html).not.toContain('<img');
    expect(html).toContain('<bdi>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</bdi>');
    expect(html).toContain(`title="${faces}"><bdi>${'🙂'.repeat(59)}…</bdi>`);
    expect(html).toContain('<bdi>two\nlines\\u202e</bdi>');
  });

  it('says of a rehearsal that nothing was spent, and names no cap where there is none', async () => {
    const view = await viewOf(customers);
    const table = (isRehearsal: boolean): string =>
      /<div class="scroll by-value".*?<\/div>/s.exec(renderFigures(parts, { ...view, isRehearsal }))![0];
    expect(table(true)).toContain('Rehearsal, nothing spent');
    expect(table(true)).not.toContain('Spent');
    expect(table(false)).toContain('>Spent<');
    expect(table(false)).not.toMatch(/Rehearsal|at most/);
  });

  it.each([
    ['no column was asked for', undefined],
    ['no row has ended', { customer: { values: {} } }],
    ['a person broke the file', { customer: 3, size: { values: { a: 1 } } } as unknown as By],
  ])('takes no place where %s', async (_name, by) => {
    const html = renderFigures(parts, await viewOf(by));
    expect(html).toContain('Money');
    expect(html).not.toContain('by-value');
  });

  it('adds nothing to a report without it but rules of style', async () => {
    const figures = await readFile('runners/report/page/figures.eta', 'utf8');
    const without = figures.replace(/<% it\.byValue\.forEach\(\(table\).*?\n<% \}\) %>\n/s, '');
    expect(without.length).toBeLessThan(figures.length);
    const view = await viewOf();
    expect(renderFigures(parts, view)).toBe(renderFigures({ ...parts, figures: without }, view));
  });
});
