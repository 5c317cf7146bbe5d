import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Each sample runs as the README says, in a folder of its own that has `samples` beside it. */
describe('samples', () => {
  let folder: string;
  const run = async (script: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve('dist', script), ...args], {
      cwd: folder,
    });
    return stdout;
  };
  const lines = async (path: string) => (await readFile(join(folder, path), 'utf8')).trim().split('\n');
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-samples-'));
    await symlink(resolve('samples'), join(folder, 'samples'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('reactive: the latest text wins, the older job is cancelled', async () => {
    const printed = await run('samples/reactive.js');
    expect(printed).toContain("{ echo: { text: 'millrace', sleepMs: 300 } }");
    expect(printed).not.toContain("text: 'mill',");
    expect(printed).toMatch(/completed\n$/);
  });

  it('batch-program: a batch from a program', async () => {
    expect(await run('samples/batch-program.js')).toContain('11 rows completed.');
    expect(await lines('out/jobs/results.jsonl')).toHaveLength(11);
  });

  it.each(['jobs', 'routes'])('%s: from the command line', async (name) => {
    const functions = ['--functions', 'samples/functions.mjs'];
    await run('runners/cli/main.js', 'run', `samples/${name}.jsonl`, '--local', ...functions, '--out', name);
    expect(await lines(`${name}/results.jsonl`)).toHaveLength((await lines(`samples/${name}.jsonl`)).length);
  });

  it('edits: a dozen pictures and a report', async () => {
    await run(
      'runners/cli/main.js',
      'run',
      'samples/edits.csv',
      '--local',
      '--endpoint',
      'image-edit',
      '--out',
      'edits',
    );
    expect(await readdir(join(folder, 'edits/images'))).toHaveLength(12);
    expect((await readFile(join(folder, 'edits/report.html'), 'utf8')).length).toBeGreaterThan(100_000);
  });
});
