import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRun } from '../../../support/make-run.js';
import { millrace, type MillraceEnd } from '../../../support/millrace.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

describe('millrace reconcile', () => {
  let work: Workplace;
  beforeEach(async () => {
    work = await openWorkplace();
    await makeRun({ folder: join(work.folder, 'out'), rows: 12, pictures: false, flawless: true });
  });
  afterEach(() => work.remove());

  const call = (...args: string[]): Promise<MillraceEnd> =>
    millrace(['reconcile', 'out', ...args], { cwd: work.folder });
  const booked = async () =>
    (await readFile(join(work.folder, 'out/costs.csv'), 'utf8')).trimEnd().split('\r\n');

  it('ends with 0 when the books are even', async () => {
    const { code, stdout, stderr } = await call('--statement', 'out/costs.csv');
    expect(stdout).toMatch(
      /^The run booked .*\n12 purchases are in both at the same price\.\nThe books are even\.\n$/,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('ends with 1 when they are not, for people and for scripts', async () => {
    const [head = '', , ...rest] = await booked();
    await work.write('export.csv', [head, ...rest, 'x\u001b[2J,,,job\u001b[31mx,,,0.5,,']);
    const reported = await call('--statement', 'export.csv');
    expect(reported.code).toBe(1);
    expect(reported.stdout).toContain('1 purchase booked and not charged:\n  ');
    expect(reported.stdout).toContain(
      '1 purchase charged and not booked:\n  job jobx: $0.50, line 13 of the statement\n',
    );
    const { code, stdout } = await call('--statement', 'export.csv', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      isEven: false,
      matched: 11,
      onlyInRun: [{ row: 1, cost: 0.0875 }],
      onlyInStatement: [{ amount: 0.5, lines: [13] }],
    });
  });

  it('takes columns of any name, and says how to name them', async () => {
    const lines = (await booked()).slice(1).map((line) => line.split(','));
    await work.write('export.csv', [
      'Vorgang;Betrag;Zeit',
      ...lines.map((cells) => `${cells[3]!};${cells[6]!.replace('.', ',')} USD;${cells[8]!}`),
    ]);
    const lost = await call('--statement', 'export.csv');
    expect(lost.code).toBe(2);
    expect(lost.stderr).toMatch(
      /export\.csv, line 1: no column is known to hold the job id; say which of "Vorgang", "Betrag", "Zeit" does\n.*--job-column/,
    );
    const named = ['--job-column', 'Vorgang', '--amount-column', 'Betrag', '--time-column', 'Zeit'];
    expect((await call('--statement', 'export.csv', ...named)).code).toBe(0);
  });

  it('compares nothing with a statement, and settles nothing by it, while workers may have bought what the books lack', async () => {
    const note = { key: 'a-run', database: 'postgres://db.example/millrace', isEmbedded: false };
    const keepNote = (isOpen: boolean) =>
      work.write('out/distributed.json', [JSON.stringify({ ...note, isBegun: true, isOpen, collected: 0 })]);
    const by = (name: string) =>
      millrace([name, 'out', '--statement', 'out/costs.csv'], { cwd: work.folder });
    const behind = `workers may have bought what is only in the database so far (${note.database})`;
    for (const name of ['settle', 'reconcile']) {
      await keepNote(true);
      const { code, stderr } = await by(name);
      expect([code, stderr]).toEqual([2, expect.stringContaining(behind)]);
      await keepNote(false);
      expect((await by(name)).code).toBe(0);
    }
  });

  it('names line and column of what it cannot read, and what is not there', async () => {
    await work.write('export.csv', ['jobId,cost', 'a,1', 'b,free']);
    const { code, stderr } = await call('--statement', 'export.csv');
    expect(stderr).toMatch(/^error: .*export\.csv, line 3, column "cost": "free" is not an amount\n$/);
    expect(code).toBe(2);
    expect(await call('--statement', 'none.csv')).toMatchObject({
      code: 2,
      stderr: 'error: --statement: "none.csv": there is no such file\n',
    });
    expect((await call()).code).toBe(2);
  });
});
