import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findManifest } from '../../../../runners/cli/options/find-manifest.js';
import { outFolder } from '../../../../runners/cli/options/run-folder.js';

describe('findManifest', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'millrace-manifest-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  it('knows the format by the name', async () => {
    await mkdir(join(cwd, 'in'));
    await writeFile(join(cwd, 'in', 'rows.ndjson.gz'), '');
    expect(await findManifest('in/rows.ndjson.gz', undefined, { cwd })).toEqual({
      name: 'in/rows.ndjson.gz',
      path: join(cwd, 'in', 'rows.ndjson.gz'),
      format: 'jsonl',
      gzip: true,
      folder: join(cwd, 'in'),
    });
  });

  it('names the file that the report saved into the folder of downloads', async () => {
    await mkdir(join(cwd, 'Downloads'));
    await writeFile(join(cwd, 'Downloads', 'edits.csv'), '');
    const env = { HOME: cwd };
    await expect(findManifest('edits.csv', undefined, { cwd, env })).rejects.toMatchObject({
      problems: ['manifest "edits.csv": there is no such file'],
      hint: `a file of that name is in Downloads: ${join(cwd, 'Downloads', 'edits.csv')}`,
    });
    await expect(findManifest('other.csv', undefined, { cwd, env })).rejects.toMatchObject({
      hint: undefined,
    });
  });

  it('takes a manifest of rejected rows out of Downloads, the newest of its name, with the pictures where it was asked for', async () => {
    await mkdir(join(cwd, 'Downloads'));
    const [older, newer] = ['edits.redo.csv', 'edits.redo (1).csv'].map((name) =>
      join(cwd, 'Downloads', name),
    );
    await writeFile(older!, '');
    await writeFile(newer!, '');
    await utimes(older!, 1, 1);
    const printed: string[] = [];
    const io = {
      cwd,
      env: { USERPROFILE: cwd },
      stderr: { write: (text: string) => printed.push(text) > 0 },
    };
    const asked = join(cwd, 'photos', 'edits.redo.csv');
    expect(await findManifest(asked, undefined, io as never)).toMatchObject({
      path: newer,
      folder: join(cwd, 'photos'),
    });
    expect(printed).toEqual([`note: edits.redo.csv is taken from Downloads: ${newer}\n`]);

    await mkdir(join(cwd, 'photos'));
    await writeFile(asked, '');
    expect(await findManifest(asked, undefined, io as never)).toMatchObject({ path: asked });
    await expect(findManifest('other.redo.csv', undefined, io as never)).rejects.toMatchObject({
      hint: expect.stringContaining('Save redo manifest') as string,
    });
  });

  it('prints commands that can be pasted for a folder with spaces', async () => {
    await mkdir(join(cwd, 'my photos'));
    await expect(findManifest('my photos', undefined, { cwd })).rejects.toMatchObject({
      hint: `millrace init 'my photos' --prompt "…" writes one of its pictures`,
    });
  });

  it('takes any name when the format is given', async () => {
    await writeFile(join(cwd, 'rows.txt'), '');
    expect(await findManifest('rows.txt', 'csv', { cwd })).toMatchObject({ format: 'csv', gzip: false });
    await expect(findManifest('rows.txt', undefined, { cwd })).rejects.toThrow(
      'say what it is with --format csv',
    );
  });

  it.each(['edits.xlsx', 'edits.XLS', 'edits.ods', 'edits.numbers'])(
    'says of %s how it becomes a CSV, whatever format is told',
    async (name) => {
      await writeFile(join(cwd, name), '');
      for (const format of [undefined, 'csv'] as const) {
        const error: unknown = await findManifest(name, format, { cwd }).catch((thrown: unknown) => thrown);
        expect(JSON.stringify(error) + String(error)).toMatch(/is a spreadsheet.*CSV UTF-8/s);
      }
    },
  );

  it('refuses a pipe that has a name [fault 22]', async () => {
    execFileSync('/usr/bin/mkfifo', [join(cwd, 'rows.csv')]);
    await expect(findManifest('rows.csv', undefined, { cwd })).rejects.toThrow('"rows.csv" is not a file');
  });

  it('names a file that is not there, and a folder', async () => {
    await expect(findManifest('no.csv', undefined, { cwd })).rejects.toThrow(
      'manifest "no.csv": there is no such file',
    );
    await expect(findManifest('.', undefined, { cwd })).rejects.toThrow('"." is a folder, not a manifest');
  });

  it('wants the format of stdin', async () => {
    await expect(findManifest('-', undefined, { cwd })).rejects.toThrow('needs --format');
    expect(await findManifest('-', 'jsonl', { cwd })).toMatchObject({
      path: undefined,
      format: 'jsonl',
      folder: cwd,
    });
  });
});

describe('outFolder', () => {
  const source = (path: string | undefined) => ({
    name: 'x',
    path,
    format: 'csv' as const,
    gzip: false,
    folder: '/in',
  });

  it.each([
    ['/in/edits.csv', false, '/in/edits.out'],
    ['/in/edits.csv', true, '/in/edits.local.out'],
    ['/in/day.1.jsonl.gz', false, '/in/day.1.out'],
    ['/in/rows.txt', false, '/in/rows.txt.out'],
  ])('of %s, local %s, is %s', (path, local, folder) => {
    expect(outFolder(source(path), undefined, local, '/here')).toBe(folder);
  });

  it('is the one that is given', () => {
    expect(outFolder(source('/in/edits.csv'), 'out/a', true, '/here')).toBe('/here/out/a');
  });

  it('must be given for stdin', () => {
    expect(() => outFolder(source(undefined), undefined, false, '/here')).toThrow('needs --out DIR');
  });
});
