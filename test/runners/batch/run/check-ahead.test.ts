import { appendFile, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../../runners/batch/journal/line/record-line.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import {
  runBatch,
  runStages,
  type RunBatchOptions,
  type StopOrder,
} from '../../../../runners/batch/run-batch.js';
import { checkAhead } from '../../../../runners/batch/start/check/check-ahead.js';
import { keepManifest } from '../../../../runners/batch/start/check/keep-manifest.js';
import { resolveOptions } from '../../../../runners/batch/start/resolve-options.js';
import { job } from '../../../support/manifest-rows.js';
import { echoJobs, openRehearsal } from '../../../support/rehearsal.js';
import { mainFile } from '../../../support/millrace.js';
import { paperRun } from '../../../support/paper-run.js';
import { until } from '../../../support/until.js';

const thread = new URL('check-thread.js', pathToFileURL(mainFile));
const longJournal = 33 << 20;

let folder: string;
let out: string;
let kept: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-ahead-'));
  out = join(folder, 'out');
  kept = join(out, '.manifest.checked');
  await mkdir(out);
  await writeFile(
    join(folder, 'm.jsonl'),
    ['a', 'b', 'c'].map((id) => `${JSON.stringify(job(id))}\n`).join(''),
  );
  await summary({ completed: 3, failed: 0, toDo: 0 });
  await journalOf(longJournal);
});
afterEach(() => rm(folder, { recursive: true }));

/** Nothing reads it here: it is only as long as one. */
async function journalOf(bytes: number): Promise<void> {
  const file = await open(join(out, 'journal.jsonl'), 'w');
  await file.truncate(bytes);
  await file.close();
}

const appendRow = (id: string): Promise<void> =>
  appendFile(join(folder, 'm.jsonl'), `${JSON.stringify(job(id))}\n`);

async function summary(rows: object): Promise<void> {
  await writeFile(join(out, 'summary.json'), JSON.stringify({ rows, cost: {}, times: {}, thisStart: {} }));
}

const ahead = (
  options: Partial<RunBatchOptions> = {},
  signal = new AbortController().signal,
  file = thread,
) =>
  checkAhead(
    resolveOptions({
      manifest: { path: join(folder, 'm.jsonl') },
      out,
      baseUrl: 'https://x.test',
      ...options,
    }),
    signal,
    Promise.resolve(),
    file,
  );

describe('a thread beside a long journal', () => {
  it('keeps what the manifest holds', async () => {
    await ahead();
    const content = await readFile(kept);
    await rm(kept);
    const { settings, path } = resolveOptions({ manifest: { path: join(folder, 'm.jsonl') }, out }).manifest;
    await keepManifest(nodeDisk, { out, path, settings });
    expect(await readFile(kept)).toEqual(content);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['its journal is short', () => journalOf(31 << 20).then(() => ahead())],
    [
      'a third of its rows is to be done',
      () => summary({ completed: 2, failed: 0, toDo: 1 }).then(() => ahead()),
    ],
    ['its summary is gone', () => rm(join(out, 'summary.json')).then(() => ahead())],
    ['its summary is damaged', () => writeFile(join(out, 'summary.json'), '{').then(() => ahead())],
    ['only some rows are asked for', () => ahead({ only: ['a'] })],
    ['another disk is given', () => ahead({ disk: { ...nodeDisk } })],
    ['costs are kept by a column', () => ahead({ costBy: ['kind'] })],
    [
      'pictures are found by a function',
      () => ahead({ manifest: { path: join(folder, 'm.jsonl'), resolveImage: () => '' } }),
    ],
    ['the start is to stop', () => ahead({}, AbortSignal.abort())],
    ['the manifest is gone', () => rm(join(folder, 'm.jsonl')).then(() => ahead())],
    ['a row is wrong', () => appendFile(join(folder, 'm.jsonl'), '{"id":4}\n').then(() => ahead())],
    ['an id comes twice', () => appendRow('a').then(() => ahead())],
    ['ids differ in case alone', () => appendRow('A').then(() => ahead())],
    [
      'an id with capitals comes twice',
      () =>
        appendRow('D')
          .then(() => appendRow('D'))
          .then(() => ahead()),
    ],
    ['its file is not there', () => ahead({}, undefined, new URL('no-thread.js', thread))],
  ])('keeps nothing where %s', async (_, act) => {
    await act();
    expect(existsSync(kept)).toBe(false);
  });

  it('is not begun where something is kept that this start may use', async () => {
    await ahead();
    const { ino } = await stat(kept);
    await ahead();
    expect((await stat(kept)).ino).toBe(ino);
    await ahead({ manifest: { path: join(folder, 'm.jsonl'), mode: 'sync' } });
    expect((await stat(kept)).ino).not.toBe(ino);
  });

  it('ends at once when the start is to stop', async () => {
    const begun = join(folder, 'begun');
    const endless = join(folder, 'endless.mjs');
    await writeFile(
      endless,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(begun)}, ''); for (;;);`,
    );
    const leaving = new AbortController();
    const ended = ahead({}, leaving.signal, pathToFileURL(endless));
    await until(() => existsSync(begun));
    leaving.abort();
    await ended;
  });
});

describe('what is done beside the journal', () => {
  /** It goes on until its start is to stop. */
  const untilAborted = (_: unknown, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

  it.each([
    ['begins once the run is held', () => Promise.resolve({ release: () => Promise.resolve() }), true],
    ['never begins where another process holds the run', () => Promise.reject(new Error('held')), false],
  ])('%s', async (_, hold, begins) => {
    const run = paperRun();
    run.manifest([job('a')]);
    await run.start();
    const steps: string[] = [];
    const checkAhead = async (_: unknown, signal: AbortSignal, held: Promise<unknown>): Promise<void> => {
      steps.push('prepared');
      void held.then(() => steps.push('begun'));
      await Promise.race([held, untilAborted(_, signal)]);
      steps.push('ended');
    };
    const holding = async () => {
      steps.push('hold');
      return hold();
    };
    await run.follow(runBatch(run.options({ hold: holding }), { ...runStages, checkAhead }));
    expect(steps).toEqual(['prepared', 'hold', ...(begins ? ['begun'] : []), 'ended']);
  });

  it('ends with a start that cannot read its journal', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    await run.start();
    run.disk.plant('/job/out/journal.jsonl', 'no record\nnor this\n');
    const end = await run.follow(runBatch(run.options(), { ...runStages, checkAhead: untilAborted }));
    expect(end.reason).toContain('is damaged: line 1');
  });

  it('ends when the start is told to stop', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    await run.start();
    const stop = new Subject<StopOrder>();
    const checkAhead = (_: unknown, signal: AbortSignal): Promise<void> => {
      queueMicrotask(() => stop.next('graceful'));
      return untilAborted(_, signal);
    };
    const end = await run.follow(runBatch(run.options({ stop }), { ...runStages, checkAhead }));
    expect(end.exitCode).toBe(130);
  });
});

it('is what the command line does: what a refused start has kept is from the thread', async () => {
  const rehearsal = await openRehearsal();
  const start = (manifest: string) =>
    rehearsal.start('run', manifest, '--out', 'o', '--yes', '--quiet').ended;
  try {
    await rehearsal.write('first.jsonl', echoJobs(3));
    await rehearsal.write('other.jsonl', [JSON.stringify({ id: 'x', endpoint: 'echo', input: {} })]);
    expect((await start('first.jsonl')).code).toBe(0);
    const [journal, check] = ['journal.jsonl', '.manifest.checked'].map((name) =>
      join(rehearsal.folder, 'o', name),
    ) as [string, string];
    const records = (await readFile(journal, 'utf8')).trimEnd().split('\n').length;
    const long = { k: 'stop', at: 1, exitCode: 0, filler: 'x'.repeat(1 << 20) } as const;
    for (let more = 1; more <= 33; more++) await appendFile(journal, encodeRecord(records + more, long));
    await rm(check);
    const refused = await start('other.jsonl');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('first.jsonl')]);
    expect(existsSync(check)).toBe(true);
  } finally {
    await rehearsal.close();
  }
});
