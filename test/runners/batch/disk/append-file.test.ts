import { describe, expect, it } from 'vitest';
import { openAppendFile } from '../../../../runners/batch/disk/append-file.js';
import { folderOf, writeAll } from '../../../../runners/batch/disk/disk.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const path = '/run/file';

function diskWith(
  options: ConstructorParameters<typeof ForgetfulDisk>[0] = {},
  content?: string,
): ForgetfulDisk {
  const disk = new ForgetfulDisk(options);
  disk.plant('/run/other', '');
  if (content !== undefined) disk.plant(path, content);
  return disk;
}

describe('openAppendFile', () => {
  it('appends behind what is there, and knows what is durable', async () => {
    const disk = diskWith({}, 'old ');
    const file = await openAppendFile(disk, path);
    expect([file.end, file.synced]).toEqual([4, 4]);
    await file.append(Buffer.from('new'));
    expect([file.end, file.synced]).toEqual([7, 4]);
    await file.sync();
    expect([file.end, file.synced]).toEqual([7, 7]);
    await file.close();
    expect(disk.peek(path)?.toString()).toBe('old new');
  });

  it('syncs the folder of a new file, so that its name survives a power cut', async () => {
    const disk = diskWith({ random: () => 0 });
    const file = await openAppendFile(disk, path);
    await file.append(Buffer.from('x'));
    await file.sync();
    expect(disk.restart().peek(path)?.toString()).toBe('x');
  });

  it('goes on after short writes', async () => {
    let turn = 0;
    const disk = diskWith({ shortTransfers: true, random: () => (turn = (turn + 0.37) % 1) });
    const file = await openAppendFile(disk, path);
    const text = 'a line that takes several writes';
    await file.append(Buffer.from(text));
    expect(disk.peek(path)?.toString()).toBe(text);
    expect(disk.counts.write).toBeGreaterThan(1);
  });

  it('cuts the file back when a write fails in the middle', async () => {
    const disk = diskWith({ capacity: 10 }, 'kept');
    const file = await openAppendFile(disk, path);
    await expect(file.append(Buffer.from('too long for it'))).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(disk.peek(path)?.toString()).toBe('kept');
    expect(file.end).toBe(4);
    await file.append(Buffer.from('fits'));
    expect(disk.peek(path)?.toString()).toBe('keptfits');
  });

  it('tells the first error when cutting back fails as well, and writes over the rest later', async () => {
    const faults = [
      { code: 'ENOSPC', call: 'write', nth: 1 },
      { code: 'EIO', call: 'truncate' },
    ] as const;
    const file = await openAppendFile(diskWith({ faults }, 'kept'), path);
    await expect(file.append(Buffer.from('x'))).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(file.end).toBe(4);
  });

  it('leaves what is synced as it was when a sync fails', async () => {
    const file = await openAppendFile(diskWith({ faults: [{ code: 'EIO', call: 'sync' }] }), path);
    await file.append(Buffer.from('x'));
    await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' });
    expect([file.end, file.synced]).toEqual([1, 0]);
    await file.cutTo(0);
    expect([file.end, file.synced]).toEqual([0, 0]);
  });

  it('starts where it is told to', async () => {
    const disk = diskWith({}, 'good torn');
    const file = await openAppendFile(disk, path, 5);
    await file.append(Buffer.from('next'));
    expect(disk.peek(path)?.toString()).toBe('good next');
  });

  it('closes the file again when its size cannot be had', async () => {
    const disk = diskWith({ faults: [{ code: 'EIO', call: 'size' }] }, 'x');
    await expect(openAppendFile(disk, path)).rejects.toMatchObject({ code: 'EIO' });
    expect(disk.counts.close).toBe(1);
  });
});

describe('writeAll', () => {
  it('does not go round for ever on a disk that writes nothing', async () => {
    const file = { write: () => Promise.resolve(0) } as unknown as Parameters<typeof writeAll>[0];
    await expect(writeAll(file, Buffer.from('x'), 0)).rejects.toMatchObject({ code: 'EIO' });
  });
});

describe('folderOf', () => {
  it.each([
    ['/a/b', '/a'],
    ['/a', '/'],
    ['a', '.'],
    ['C:\\out\\journal.jsonl', 'C:\\out'],
  ])('%s → %s', (given, folder) => expect(folderOf(given)).toBe(folder));
});
