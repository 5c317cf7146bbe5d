import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { millrace } from '../../../support/millrace.js';
import { paperRun, type PaperEnd } from '../../../support/paper-run.js';
import { intent, journalFile, refused, start } from '../../../support/sample-records.js';

const identity = { baseUrl: 'https://paper.test', lbBaseUrl: 'https://paper.test', local: false };
const columns = { resolution: '1k', note: 'x' };

/** A row of an older version, which kept `resolution` as the user's own. */
const before = intent('a', { cells: { id: 'a', prompt: 'a', ...columns }, columns });

const manifest = [
  'id,endpoint,images,prompt,resolution,note',
  ...['a', 'b'].map((id) => `${id},image-edit,http://example.test/a.png,${id},1k,x\n`),
].join('\n');

function named({ events }: PaperEnd): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
}

it('a start names a column that an older version kept as the own one, until a row was sent with it', async () => {
  const run = paperRun();
  run.manifest(manifest);
  run.disk.plant('/job/out/journal.jsonl', journalFile([start({ identity }), before, refused('a')]));
  const first = await run.start({ limit: 1 });
  expect(named(first)).toEqual([
    'column "resolution" was your own in earlier starts of this run, and is sent now: this version understands it; rename it if it is still your own',
  ]);
  const types = first.events.map(({ type }) => type);
  expect(types.indexOf('warning')).toBeLessThan(types.indexOf('started'));
  expect(named(await run.start())).toEqual([]);
  expect(run.lines('results.jsonl')).toHaveLength(2);
});

it('an own column of rows of another kind is no news', async () => {
  const run = paperRun();
  run.manifest(manifest);
  const job = intent('j', {
    kind: 'job',
    request: { kind: 'job', input: { row: 'j' } },
    cells: { id: 'j', ...columns },
    columns,
  });
  run.disk.plant('/job/out/journal.jsonl', journalFile([start({ identity }), job, refused('j')]));
  expect(named(await run.start())).toEqual([]);
});

it('the plan names it as well, for people and for scripts', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-newly-sent-'));
  try {
    await writeFile(join(cwd, 'edits.csv'), manifest);
    await mkdir(join(cwd, 'edits.out'));
    await writeFile(
      join(cwd, 'edits.out', 'journal.jsonl'),
      journalFile([start({ manifest: join(cwd, 'edits.csv') }), before, refused('a')]),
    );
    const text = await millrace(['plan', 'edits.csv'], { cwd });
    expect(text.stdout).toContain(
      '  warning: column "resolution" was your own in earlier starts of this run',
    );
    const { stdout } = await millrace(['plan', 'edits.csv', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ start: { newlySent: ['resolution'] } });
  } finally {
    await rm(cwd, { recursive: true });
  }
});
