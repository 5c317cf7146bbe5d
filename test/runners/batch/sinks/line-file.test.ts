import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { holdsExtent, LineFile } from '../../../../runners/batch/sinks/line-file.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const path = '/out/results.jsonl';
const text = (disk: ForgetfulDisk): string => disk.peek(path)?.toString() ?? '';

async function diskWith(content?: string): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await disk.mkdir('/out');
  if (content !== undefined) disk.plant(path, content);
  return disk;
}

describe('LineFile', () => {
  it('appends, and its extent is what has been written', async () => {
    const disk = await diskWith();
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    await file.append('two\n');
    expect(text(disk)).toBe('one\ntwo\n');
    expect(await holdsExtent(disk, path, file.extent, true)).toBe(true);
  });

  it('writes nothing where the same lies there already', async () => {
    const disk = await diskWith('one\ntwo\n');
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    await file.append('two\n');
    await file.settle();
    expect(disk.counts.write ?? 0).toBe(0);
    expect(text(disk)).toBe('one\ntwo\n');
  });

  it.each([
    ['one\nTWO\nthree\n', 'a difference'],
    ['one\ntw', 'a torn tail'],
    ['one\ntwo\nthree\n', 'what nothing was appended for'],
  ])('cuts %j at %s', async (content) => {
    const disk = await diskWith(content);
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    await file.append('two\n');
    await file.settle();
    expect(text(disk)).toBe('one\ntwo\n');
  });

  it('takes its name back where another program put a copy there, and goes on under it', async () => {
    const disk = await diskWith();
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    disk.plant(path, 'one\n');
    await file.append('two\n');
    expect(text(disk)).toBe('one\n');
    await file.keepName();
    expect(text(disk)).toBe('one\ntwo\n');
    await disk.unlink(path);
    await file.append('three\n');
    await file.keepName();
    expect(text(disk)).toBe('one\ntwo\nthree\n');
  });

  it('writes into no other folder that was put in the place of its own', async () => {
    const root = await mkdtemp(join(tmpdir(), 'millrace-lines-'));
    const place = join(root, 'out');
    await mkdir(place);
    const file = await LineFile.open(nodeDisk, join(place, 'results.jsonl'));
    await file.append('one\n');
    await rename(place, `${place}.old`);
    await mkdir(place);
    await expect(file.keepName()).rejects.toThrow('its folder was moved, removed or replaced');
    expect(await readdir(place)).toEqual([]);
    await file.close();
    await rm(root, { recursive: true });
  });

  it('writes nothing behind what another program has cut off', async () => {
    const disk = new ForgetfulDisk();
    disk.plant(path, '');
    const file = await LineFile.open(disk, path);
    await file.settle();
    await file.append('a line\n');
    await (await disk.open(path, 'r+')).truncate(1);
    await expect(file.append('another\n')).rejects.toThrow('it was changed by another program');
    expect(disk.peek(path)?.toString()).toBe('a');
  });

  it('says that it was cut under the run', async () => {
    const disk = await diskWith();
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    await (await disk.open(path, 'r+')).truncate(1);
    await expect(file.keepName()).rejects.toMatchObject({ code: 'disk', path });
  });

  it('goes on behind an extent', async () => {
    const disk = await diskWith();
    const first = await LineFile.open(disk, path);
    await first.append('one\n');
    const { extent } = first;
    await first.append('lost\n');
    const second = await LineFile.open(disk, path, extent);
    await second.append('two\n');
    expect(text(disk)).toBe('one\ntwo\n');
  });

  it('leaves lines out by a new file in place of the old one, and goes on with that', async () => {
    const disk = await diskWith();
    const file = await LineFile.open(disk, path);
    for (let line = 0; line < 40_000; line++) await file.append(`line ${line}\n`);
    await file.filter((line) => line.toString().endsWith('7'));
    await file.append('last\n');
    const lines = text(disk).split('\n');
    expect(lines).toHaveLength(4_002);
    expect(lines.slice(0, 2)).toEqual(['line 7', 'line 17']);
    expect(lines.at(-2)).toBe('last');
    expect(await holdsExtent(disk, path, file.extent, true)).toBe(true);
  });

  it('refuses to write where no file is', async () => {
    const disk = await diskWith();
    await disk.mkdir(path);
    await expect(LineFile.open(disk, path)).rejects.toMatchObject({ code: 'disk' });
  });

  it('says of the disk which file it was', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call: 'write' }] });
    await disk.mkdir('/out');
    const file = await LineFile.open(disk, path);
    await expect(file.append('one\n')).rejects.toMatchObject({ code: 'disk', errno: 'ENOSPC', path });
  });
});

describe('holdsExtent', () => {
  it('looks at the size after a clean stop, and at every byte after a crash', async () => {
    const disk = await diskWith('one\n');
    const file = await LineFile.open(disk, path);
    await file.append('one\n');
    const { extent } = file;
    disk.plant(path, 'ONE\n');
    expect(await holdsExtent(disk, path, extent, false)).toBe(true);
    expect(await holdsExtent(disk, path, extent, true)).toBe(false);
    disk.plant(path, 'one\nmore\n');
    expect(await holdsExtent(disk, path, extent, false)).toBe(false);
    expect(await holdsExtent(disk, path, extent, true)).toBe(true);
    await disk.unlink(path);
    expect(await holdsExtent(disk, path, extent, true)).toBe(false);
    expect(await holdsExtent(disk, path, { bytes: 0, crc: 0 }, true)).toBe(true);
  });
});
