import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { describeRun } from '../../../../runners/report/messages/describe-run.js';
import { makeRun, type MadeRun } from '../../../support/make-run.js';
import { reportFolder } from '../../../support/report-folder.js';

async function sentence(made: Partial<MadeRun>): Promise<string> {
  const folder = join(await reportFolder(), 'edits.out');
  await makeRun({ folder, rows: 10, pictures: false, flawless: true, ...made });
  return describeRun(await surveyRun(nodeDisk, folder));
}

describe('describeRun', () => {
  it('says what went well in one sentence', async () => {
    expect(await sentence({})).toMatch(/^All 10 rows completed in [\d.]+ s for \$[\d.]+\.$/);
    expect(await sentence({ rows: 1 })).toMatch(/^The row completed in [\d.]+ s for \$[\d.]+\.$/);
  });

  it('names failures, held rows with their price, and rows to be done', async () => {
    expect(await sentence({ rows: 300, flawless: false, toDo: 2 })).toMatch(
      /^287 of 302 rows completed in 7 min for about \$30\.24\. \d+ failed\. .*2 are in doubt, and \$0\.175 more may have been charged\. 2 to go\.$/,
    );
  });

  it('tells of money that may have been paid beside, where no row is held for it any more', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 10, pictures: false, flawless: true });
    const survey = await surveyRun(nodeDisk, folder);
    const { total } = survey.money;
    const money = { ...survey.money, total: { ...total, unknown: 2_707_500 } };
    expect(describeRun({ ...survey, money })).toMatch(
      /^All 10 rows completed in .* for \$[\d.]+\. \$2\.71 more may have been charged\.$/,
    );
  });

  it('speaks of a run in which nothing ended', async () => {
    expect(await sentence({ rows: 0, toDo: 5 })).toBe('None of 5 rows completed. 5 to go.');
    expect(await sentence({ rows: 0 })).toBe('Nothing has ended yet.');
  });

  it('calls nothing failed that is paid and waits for its download', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 300, pictures: false });
    const survey = await surveyRun(nodeDisk, folder);
    expect(survey.undownloaded).toBeGreaterThan(0);
    const failed = 300 - survey.rows.completed - survey.heldRows - survey.undownloaded;
    expect(describeRun(survey)).toContain(
      ` ${failed} failed. ${survey.undownloaded} ${survey.undownloaded === 1 ? 'is' : 'are'} paid and still to be downloaded. `,
    );
  });

  it('says of a rehearsal that nothing was spent, and of nothing that it is paid', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 300, pictures: false });
    const words = describeRun({ ...(await surveyRun(nodeDisk, folder)), isRehearsal: true });
    expect(words).toContain('Rehearsal, nothing spent.');
    expect(words).not.toMatch(/\$|paid/);
  });

  it('says of a run that goes how far it is', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 0, pictures: false, toDo: 60 });
    expect(describeRun(await surveyRun(nodeDisk, folder), true)).toBe('Running: 0 of 60 rows done.');
    // What a redo replaces is paid as well: the sum is not that of the rows that are done.
    await makeRun({ folder, rows: 20, pictures: false, toDo: 60, flawless: true });
    const words = describeRun(await surveyRun(nodeDisk, folder), true);
    expect(words).toMatch(/^Running: 20 of 80 rows done, (about )?\$[\d.]+ so far\./);
  });
});
