import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drawPicture } from '../../../support/draw-picture.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace refetch', () => {
  let work: Rehearsal;
  let picturesAreGone: boolean;
  const images = () => readdir(join(work.folder, 'edits.out', 'images'));
  beforeEach(async () => {
    picturesAreGone = false;
    work = await openRehearsal({
      faultOf: ({ operation }) => (operation === 'picture' && picturesAreGone ? '404' : ''),
    });
    await writeFile(join(work.folder, 'mug.png'), await drawPicture({ subject: 0, width: 64, height: 64 }));
    const url = work.emulator.fileUrl('mug.png') as string;
    await work.write('edits.csv', ['id,images,prompt', `a,${url},grayscale`, `b,${url},flip`]);
  });
  afterEach(() => work.close());
  const run = (...args: string[]) => work.call('run', 'edits.csv', '--endpoint', 'image-edit', ...args);

  it('fetches what is missing, needs no key, and buys nothing', async () => {
    expect((await run()).code).toBe(0);
    await rm(join(work.folder, 'edits.out', 'images', 'a.png'));
    const { code, stdout, stderr } = await work.call('refetch', 'edits.out');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '1 picture saved, none is missing.\n',
      stderr: '',
    });
    expect(await images()).toEqual(['a.png', 'b.png']);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('fetches what a run left at its URLs', async () => {
    expect((await run('--no-download')).code).toBe(0);
    expect((await work.call('refetch', 'edits.out', '--quiet')).stdout).toBe('');
    expect(await images()).toEqual(['a.png', 'b.png']);
  });

  it('names what cannot be had, and exits 1', async () => {
    await run('--no-download');
    picturesAreGone = true;
    const { code, stdout, stderr } = await work.call('refetch', 'edits.out', '--retries', '0', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ rows: { completed: 2 } });
    expect(stderr).toMatch(/warning: Row "a": .*404/);
    expect(stderr).toMatch(/warning: Row "b": .*404/);
  });
});
