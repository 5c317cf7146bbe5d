import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drawPicture } from '../../../support/draw-picture.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace init', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('pictures/note\u0007.txt', ['no picture']);
    for (const [subject, name] of ['mug.png', 'lamp.png'].entries())
      await writeFile(
        join(work.folder, 'pictures', name),
        await drawPicture({ subject, width: 64, height: 64 }),
      );
  });
  afterEach(() => work.close());

  it('writes a manifest that can be rehearsed as it is', async () => {
    const { code, stdout, stderr } = await work.call('init', 'pictures', '--prompt', 'black and white');
    expect(code).toBe(0);
    expect(stdout).toContain('pictures/edits.csv: 2 pictures\n');
    expect(stderr).toMatch(/^left out: note ?\.txt /);
    const commands = [...stdout.matchAll(/with: millrace (plan .*--local)$/gm)].map(
      ([, command = '']) => command,
    );
    expect(commands).toHaveLength(1);
    for (const command of commands) expect((await work.call(...command.split(' '))).code).toBe(0);
    const rehearsed = await work.call('run', 'pictures/edits.csv', '--endpoint', 'image-edit', '--local');
    expect(rehearsed.code).toBe(0);
    expect(await work.lines('pictures/edits.local.out/results.jsonl')).toHaveLength(2);
    expect(work.emulator.bill()).toEqual([]);
  });

  it('quotes a folder whose name has a space in the commands that it prints', async () => {
    const picture = await drawPicture({ subject: 0, width: 64, height: 64 });
    await mkdir(join(work.folder, 'my photos'));
    await writeFile(join(work.folder, 'my photos', 'mug.png'), picture);
    const { stdout } = await work.call('init', 'my photos', '--prompt', 'p');
    for (const word of ['plan', 'run'])
      expect(stdout).toContain(`millrace ${word} 'my photos/edits.csv' --endpoint image-edit --local\n`);
  });

  it('overwrites nothing', async () => {
    await work.call('init', 'pictures', '--prompt', 'black and white');
    const again = await work.call('init', 'pictures', '--prompt', 'in colour');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is there already') });
  });

  it('writes where it is told to', async () => {
    expect((await work.call('init', 'pictures', '--prompt', 'p', '--out', 'all.csv')).stdout).toContain(
      'all.csv: 2 pictures',
    );
  });
});
