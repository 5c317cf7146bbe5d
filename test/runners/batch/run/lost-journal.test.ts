import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const out = '/job/out';
const ids = Array.from({ length: 10 }, (_, n) => (n === 5 ? '=r5, "x"' : `r${n}`));
const edit = (id: string, prompt = id) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt,
});
const rows = ids.map((id, n) => edit(id, `r${n}`));
const kept = ['results.jsonl', 'failures.jsonl', 'costs.csv', 'earlier.jsonl'];

/** Every file of the run, by its path. */
type Copy = ReadonlyMap<string, Buffer>;

function copyOf({ disk }: PaperRun): Copy {
  return new Map(disk.paths().map((path) => [path, disk.peek(path)!]));
}

function putBack({ disk }: PaperRun, copy: Copy, name: string): void {
  disk.plant(`${out}/${name}`, copy.get(`${out}/${name}`)!);
}

/** Ten rows, bought in two starts: what lay there after the first one, with four of them, is the backup. */
async function twoStarts(): Promise<{ run: PaperRun; older: Copy }> {
  const run = paperRun();
  run.service.behave = (row) =>
    row === 'r6' ? 'lose-answer' : row === 'r7' ? 'fail' : row === 'r8' ? 'inline' : 'complete';
  run.manifest(rows);
  await run.start({ limit: 4, concurrency: 1 });
  const older = copyOf(run);
  await run.start({ concurrency: 1 });
  expect(run.service.posts).toHaveLength(10);
  return { run, older };
}

const losses: [string, (run: PaperRun, older: Copy) => Promise<unknown> | void][] = [
  ['an older journal', (run, older) => putBack(run, older, 'journal.jsonl')],
  [
    'an older journal with its summary',
    (run, older) => ['journal.jsonl', 'summary.json'].forEach((name) => putBack(run, older, name)),
  ],
  [
    'an older journal, and no summary',
    async (run, older) => {
      putBack(run, older, 'journal.jsonl');
      await run.disk.unlink(`${out}/summary.json`);
    },
  ],
  [
    'all files of then but costs.csv',
    (run, older) =>
      ['journal.jsonl', 'summary.json', 'results.jsonl', 'failures.jsonl'].forEach((name) =>
        putBack(run, older, name),
      ),
  ],
  [
    'all files of then but results.jsonl',
    (run, older) =>
      ['journal.jsonl', 'summary.json', 'costs.csv', 'failures.jsonl'].forEach((name) =>
        putBack(run, older, name),
      ),
  ],
  [
    'no journal and no summary',
    async ({ disk }) => {
      await disk.unlink(`${out}/journal.jsonl`);
      await disk.unlink(`${out}/summary.json`);
    },
  ],
];

describe('a journal that is behind the files', () => {
  it.each(losses)(
    '%s: nothing is sent and nothing is cut, and --repair holds what may have been bought [fault 19b]',
    async (_, lose) => {
      const { run, older } = await twoStarts();
      await lose(run, older);
      const left = kept.map((name) => run.text(name));
      for (let start = 1; start <= 2; start++) {
        const end = await run.start();
        expect(end.exitCode).toBe(74);
        expect(end.reason).toMatch(/has lost records: .*--repair/);
        expect(kept.map((name) => run.text(name))).toEqual(left);
      }
      const repaired = await run.start({ repair: true });
      expect([0, 1, 6]).toContain(repaired.exitCode);
      expect(run.service.posts).toHaveLength(10);
      const { completed, failed, toDo } = repaired.summary.rows;
      expect(completed + failed + toDo).toBe(10);
      expect((await run.start()).exitCode).not.toBe(74);
      expect(run.service.posts).toHaveLength(10);
    },
  );

  it('with all files of then but the pictures: their rows are held, and the others are bought', async () => {
    const { run, older } = await twoStarts();
    for (const name of ['journal.jsonl', 'summary.json', ...kept.slice(0, 3)]) putBack(run, older, name);
    const pictured = ids.slice(4).filter((id) => id !== 'r6' && id !== 'r7');
    run.service.behave = () => 'complete';
    const end = await run.start();
    // Of r6 and r7 nothing is left that could tell of them.
    expect(run.service.posts.slice(10)).toEqual(['r6', 'r7']);
    expect(end.summary.failures).toEqual({ unknown: pictured.length });
    expect(run.lines('failures.jsonl').map(({ id }) => id)).toEqual(pictured);
    await run.disk.unlink(`${out}/journal.jsonl`);
    for (const name of ['summary.json', ...kept.slice(0, 2)]) await run.disk.unlink(`${out}/${name}`);
    run.disk.plant(`${out}/costs.csv`, `${run.text('costs.csv').split('\n')[0]!}\n`);
    expect((await run.start()).reason).toContain('images/r0.png was saved, and it tells of no row');
  });

  it('is repaired from whole lines: the results are kept word for word, and the money', async () => {
    const { run, older } = await twoStarts();
    const before = { results: run.text('results.jsonl'), costs: run.costs() };
    putBack(run, older, 'journal.jsonl');
    const end = await run.start({ repair: true });
    expect(run.text('results.jsonl')).toBe(before.results);
    const sorted = (lines: Record<string, string>[]) => lines.map((line) => JSON.stringify(line)).sort();
    expect(sorted(run.costs())).toEqual(sorted(before.costs));
    expect(end.summary.cost).toMatchObject({ reported: 0.7, unknown: 0.0875 });
    expect(end.summary.failures).toEqual({ unknown: 1, 'job-failed': 1 });
    await settleRow(out, 'r6', { paidUsd: 0.0875 }, { ...run, hold: run.options().hold! });
    expect((await run.start()).exitCode).toBe(0);
  });

  it('counts what is held for the lost part under the cap: rows behind it are not bought beyond it', async () => {
    const { run, older } = await twoStarts();
    for (const name of ['journal.jsonl', 'summary.json', ...kept.slice(0, 3)]) putBack(run, older, name);
    run.service.behave = () => 'complete';
    // Four are spent and two held in front of r6.
    const end = await run.start({ maxCostUsd: 6.5 * 0.0875, concurrency: 1 });
    expect(end.exitCode).toBe(3);
    expect(run.service.posts.slice(10)).toEqual([]);
    await run.start({ maxCostUsd: 7.5 * 0.0875, concurrency: 1 });
    expect(run.service.posts.slice(10)).toEqual(['r6']);
  });

  it('holds a row that was refused before as one more attempt, which it may have had in the lost part', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b'), edit('c')]);
    run.service.behave = (row) => (row === 'b' ? 'busy' : 'complete');
    await run.start({ limit: 2, retries: 0 });
    const older = copyOf(run);
    run.service.behave = () => 'complete';
    await run.start();
    const results = run.lines('results.jsonl');
    const attempt = run.costs().find(({ id }) => id === 'b')?.['attempt'];
    for (const name of ['journal.jsonl', 'summary.json', 'costs.csv']) putBack(run, older, name);
    const others = results.filter(({ id }) => id !== 'b').map((line) => `${JSON.stringify(line)}\n`);
    run.disk.plant(`${out}/results.jsonl`, others.join(''));
    await run.start({ repair: true });
    expect(run.service.posts.toSorted()).toEqual(['a', 'b', 'c']);
    expect(run.costs().find(({ id }) => id === 'b')).toMatchObject({
      attempt,
      cost: '0.0875',
      source: 'unknown',
    });
  });

  it('asks again with a GET whose answer may be lost, and holds no money for it', async () => {
    const run = paperRun();
    const prices = () => createPriceBook(toPriceList({ route: 0.05 }));
    run.manifest([edit('a'), { id: 'g', route: 'g', method: 'GET' }, edit('c')]);
    await run.start({ limit: 1, prices: prices() });
    const older = copyOf(run);
    await run.start({ prices: prices() });
    const results = run.lines('results.jsonl');
    for (const name of ['journal.jsonl', 'summary.json', 'costs.csv']) putBack(run, older, name);
    const others = results.filter(({ id }) => id !== 'g').map((line) => `${JSON.stringify(line)}\n`);
    run.disk.plant(`${out}/results.jsonl`, others.join(''));
    const end = await run.start({ repair: true, prices: prices() });
    expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 3 }, cost: { unknown: 0 } } });
    expect(run.lines('results.jsonl').find(({ id }) => id === 'g')).toMatchObject({ output: { said: 'g' } });
    expect(run.costs().map(({ id }) => id)).toEqual(['a', 'c']);
    expect(run.service.posts).toEqual(['a', 'c']);
  });

  it('collects the job of a row whose request is lost with its purchase, once a person has named it', async () => {
    const { run, older } = await twoStarts();
    putBack(run, older, 'journal.jsonl');
    await run.start({ repair: true });
    await settleRow(out, 'r6', { jobId: 'job-r6-1' }, { ...run, hold: run.options().hold! });
    run.service.revive('job-r6-1');
    const end = await run.start();
    expect(end.reason).not.toContain('fault');
    expect(run.lines('results.jsonl').map(({ id }) => id)).toContain('r6');
    expect(run.service.posts).toHaveLength(10);
  });

  it('keeps a job with a price per picture a job, of which costs.csv alone is left', async () => {
    const run = paperRun();
    const job = (id: string) => ({ id, endpoint: 'draw', input: { resolution: '2k', row: id } });
    const prices = () =>
      createPriceBook(toPriceList({ endpoints: { draw: { usdPerPicture: { '1k': 0.05, '2k': 0.08 } } } }));
    run.manifest([job('a'), job('b')]);
    await run.start({ limit: 1, prices: prices() });
    const older = copyOf(run);
    await run.start({ prices: prices() });
    for (const name of ['journal.jsonl', 'results.jsonl']) putBack(run, older, name);
    await run.disk.unlink(`${out}/summary.json`);
    await run.start({ repair: true, prices: prices() });
    expect(run.lines('failures.jsonl')).toMatchObject([
      { id: 'b', error: { code: 'unknown' }, millrace: { kind: 'job' } },
    ]);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('is not repaired by settle, which says so', async () => {
    const { run, older } = await twoStarts();
    putBack(run, older, 'journal.jsonl');
    const settled = settleRow(out, 'r6', { notSent: true }, { ...run, hold: run.options().hold! });
    await expect(settled).rejects.toMatchObject({ code: 'journal-broken' });
  });

  it('knows the attempts of a row apart: what was redone since is no line of the first purchase', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    const older = copyOf(run);
    run.manifest([edit('a', 'warmer'), edit('b')]);
    await run.start({ changed: 'redo' });
    putBack(run, older, 'journal.jsonl');
    putBack(run, older, 'summary.json');
    expect((await run.start({ changed: 'redo' })).reason).toContain('row "a", attempt 2');
    await run.start({ changed: 'redo', repair: true });
    expect(run.service.posts).toEqual(['a', 'b', 'warmer']);
    expect(run.lines('results.jsonl').map(({ id, attempts }) => [id, attempts])).toContainEqual(['a', 2]);
    expect(run.costs()).toHaveLength(3);
  });
});

describe('files that were edited by hand', () => {
  const change = (name: string, edit: (text: string) => string): [string, (run: PaperRun) => void] => [
    name,
    (run) => run.disk.plant(`${out}/${name}`, edit(run.text(name))),
  ];
  it.each<[string, string, (text: string) => string]>([
    ['another cost', 'costs.csv', (text) => text.replace('0.0875', '0.09')],
    ['a line less', 'costs.csv', (text) => text.replace(/\nr2,.*/, '')],
    ['a line twice', 'costs.csv', (text) => `${text}${text.split('\n')[1]!}\n`],
    ['a total at the end', 'costs.csv', (text) => `${text},,,,,,1.23,,\n`],
    ['the cells in other order', 'costs.csv', (text) => text.replace(/^(r\d),(\d),/gm, '$2,$1,')],
    ['another output', 'results.jsonl', (text) => text.replace('image_url', 'url')],
    ['half a line', 'results.jsonl', (text) => `${text}{"id":"r99","row"`],
    ['no line at all', 'results.jsonl', () => ''],
    ['another message', 'failures.jsonl', (text) => text.replace('memory', 'room')],
  ])('are mended, and no loss is reported: %s in %s [fault 19b]', async (_, name, edited) => {
    const { run } = await twoStarts();
    const before = kept.map((file) => run.text(file));
    const [, apply] = change(name, edited);
    apply(run);
    expect(run.text(name)).not.toBe(before[kept.indexOf(name)]);
    await run.disk.unlink(`${out}/summary.json`);
    const end = await run.start();
    expect([0, 1, 6]).toContain(end.exitCode);
    expect(kept.map((file) => run.text(file))).toEqual(before);
    expect(run.service.posts).toHaveLength(10);
  });
});

describe('a journal that has lost records in its middle', () => {
  /** Ends of all kinds: completed with a picture, in doubt, failed, redone. */
  async function bought(): Promise<PaperRun> {
    const run = paperRun();
    run.service.behave = (row) =>
      row === 'r1' ? 'lose-answer' : row === 'r2' ? 'fail' : row === 'r3' ? 'inline' : 'complete';
    run.manifest([...rows.slice(0, 4), edit('a')]);
    await run.start({ concurrency: 1 });
    run.manifest([...rows.slice(0, 4), edit('a', 'warmer')]);
    await run.start({ changed: 'redo', concurrency: 1 });
    return run;
  }

  /** The journal without some of its records: one of their bytes is another. */
  function damage({ disk }: PaperRun, records: readonly number[]): void {
    const lines = disk.peek(`${out}/journal.jsonl`)!.toString().split('\n');
    for (const record of records) lines[record] = lines[record]!.replace('"at":', '"aT":');
    disk.plant(`${out}/journal.jsonl`, lines.join('\n'));
  }

  const outputs = (run: PaperRun) =>
    run
      .lines('results.jsonl')
      .map(({ id, jobId, output, image, cost }) => ({ id, jobId, output, image, cost }));

  it('keeps each result, and buys nothing again, whichever one or two are lost [fault 20]', async () => {
    const whole = await bought();
    const records = whole.lines('journal.jsonl');
    const all = [...records.keys()];
    const pairs = all.flatMap((one) =>
      all.slice(one % 4 === 0 ? one + 1 : all.length).map((other) => [one, other]),
    );
    for (const lost of [...all.map((one) => [one]), ...pairs]) {
      const run = paperRun();
      run.manifest([...rows.slice(0, 4), edit('a', 'warmer')]);
      for (const path of whole.disk.paths())
        if (path.startsWith(out)) run.disk.plant(path, whole.disk.peek(path)!);
      damage(run, lost);
      expect((await run.start()).exitCode).toBe(74);
      const what = lost.map((record) => JSON.stringify(records[record]).slice(0, 60)).join(' & ');
      const end = await run.start({ repair: true });
      expect([what, end.exitCode, end.reason]).toEqual([what, 6, expect.any(String)]);
      const { cost } = end.summary;
      expect([what, outputs(run)]).toEqual([what, expect.arrayContaining(outputs(whole))]);
      // The end of a version that was redone since may be lost: it is held as unknown.
      expect([what, cost.reported + cost.unknown]).toEqual([what, 0.4375]);
      expect((await run.start()).exitCode).not.toBe(74);
      expect([what, run.service.posts]).toEqual([what, []]);
      const named = ['results.jsonl', 'failures.jsonl'].flatMap((name) =>
        run.lines(name).map(({ id }) => id),
      );
      expect([what, named.sort()]).toEqual([what, ['a', 'r0', 'r1', 'r2', 'r3']]);
    }
  });

  it('is refused until it is repaired where the repair was not brought to its end', async () => {
    const whole = await bought();
    const before = whole.text('results.jsonl');
    damage(whole, [1]);
    const repaired = await openJournal(whole.disk, out, { repair: true });
    expect(await repaired.find('r0')).toMatchObject({
      status: 'completed',
      outcome: { status: 'completed' },
    });
    await repaired.close();
    const end = await whole.start();
    expect([end.exitCode, end.reason]).toEqual([74, expect.stringMatching(/row "r0", attempt 1/)]);
    expect(whole.text('results.jsonl')).toBe(before);
    expect((await whole.start({ repair: true })).exitCode).not.toBe(74);
    expect(whole.text('results.jsonl')).toBe(before);
  });
});

it.each([
  ['names the job of a paid row whose reply and line are both lost', true],
  ['writes a lost reply anew from its line, and names nothing', false],
])('a repair %s', async (_, isLineLost) => {
  const run = paperRun();
  run.manifest(['a', 'b', 'c'].map((id) => edit(id)));
  await run.start({ concurrency: 1 });
  const isReply = (line: string) => line.includes('"k":"reply"') && line.includes('"id":"b"');
  const damaged = run.text('journal.jsonl').split('\n');
  run.disk.plant(
    `${out}/journal.jsonl`,
    Buffer.from(damaged.map((line) => (isReply(line) ? line.replace('reply', 'r#ply') : line)).join('\n')),
  );
  const kept = run.text('results.jsonl').split('\n');
  if (isLineLost)
    run.disk.plant(
      `${out}/results.jsonl`,
      Buffer.from(kept.filter((line) => !line.includes('"id":"b"')).join('\n')),
    );
  const { exitCode, summary, events } = await run.start({ repair: true });
  const warned = events.filter(({ type }) => type === 'warning');
  const lost = {
    code: 'journal',
    message: expect.stringMatching(/^1 completed row .*"b" \(job "job-b-1"\)/),
  };
  expect(warned).toMatchObject(isLineLost ? [lost] : []);
  expect([exitCode, summary.rows.completed, run.service.posts.length]).toEqual([0, 3, 3]);
  expect(run.lines('results.jsonl')).toHaveLength(isLineLost ? 2 : 3);
});

it('begins no run anew where the folder is moved away while it is repaired [fault 19b]', async () => {
  const { run, older } = await twoStarts();
  putBack(run, older, 'journal.jsonl');
  let isAway = false;
  const end = await run.start({
    repair: true,
    journal: async (folder) => {
      const journal = await openJournal(run.disk, folder);
      const close = async () => {
        await journal.close();
        if (!isAway) run.disk.moveFolder(out, '/job/aside');
        isAway = true;
      };
      return Object.assign(Object.create(journal) as Journal, { close });
    },
  });
  expect(end).toMatchObject({ exitCode: 74, reason: expect.stringContaining('Put the folder back') });
  expect(run.service.posts).toHaveLength(10);
});
