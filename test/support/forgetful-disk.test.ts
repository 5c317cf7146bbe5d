import { describe, expect, it } from 'vitest';
import { ForgetfulDisk, PowerCut } from './forgetful-disk.js';
import { seeded } from './seeded.js';

const kept = () => 0;
const halved = () => 0.9;

async function written(disk: ForgetfulDisk, sync: boolean): Promise<void> {
  disk.plant('/run/file', 'safe ');
  const file = await disk.open('/run/file', 'r+');
  await file.write(Buffer.from('risky'), 5);
  if (sync) await file.sync();
}

describe('ForgetfulDisk at a power cut', () => {
  it('keeps what was synced, whatever the chance', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const disk = new ForgetfulDisk({ random: seeded(seed) });
      await written(disk, true);
      expect(disk.restart().peek('/run/file')?.toString()).toBe('safe risky');
    }
  });

  it('keeps, drops or halves what was not, by chance', async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const disk = new ForgetfulDisk({ random: seeded(seed) });
      await written(disk, false);
      seen.add(disk.restart().peek('/run/file')!.toString());
    }
    expect(seen).toContain('safe risky');
    expect(seen).toContain('safe ');
    expect(seen).toContain('safe ri');
    expect(seen).toContain('safe ri\0\0\0');
    expect([...seen].every((text) => /^safe (risky|r?i?s?k?)\0*$/.test(text))).toBe(true);
  });

  it('forgets a new file, a rename and a removal until their folder is synced', async () => {
    for (const synced of [false, true]) {
      const disk = new ForgetfulDisk({ random: kept });
      disk.plant('/run/a', 'a');
      disk.plant('/run/gone', '');
      await disk.rename('/run/a', '/run/b');
      await disk.unlink('/run/gone');
      await (await disk.open('/run/new', 'wx')).sync();
      if (synced) await disk.syncFolder('/run');
      expect(disk.paths()).toEqual(['/run/b', '/run/new']);
      expect(disk.restart().paths()).toEqual(synced ? ['/run/b', '/run/new'] : ['/run/a', '/run/gone']);
    }
  });

  it('rejects every call from the one that was named on', async () => {
    const disk = new ForgetfulDisk({ crashAt: 2 });
    expect(await disk.stat('/run')).toBeUndefined();
    await expect(disk.stat('/run')).rejects.toBeInstanceOf(PowerCut);
    await expect(disk.mkdir('/run')).rejects.toBeInstanceOf(PowerCut);
    expect(disk.calls).toBe(2);
  });

  it('starts again from what is left, with calls counted anew', async () => {
    const disk = new ForgetfulDisk({ random: halved, crashAt: 3 });
    await disk.mkdir('/run');
    await disk.mkdir('/run/images');
    await expect(disk.list('/run')).rejects.toBeInstanceOf(PowerCut);
    const next = disk.restart();
    expect(await next.list('/run')).toEqual(['images']);
    expect(next.calls).toBe(1);
  });
});

describe('ForgetfulDisk with faults', () => {
  it('strikes the call, the path and the number that are named', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'EIO', call: 'write', path: 'journal', nth: 2 }] });
    disk.plant('/run/journal', '');
    disk.plant('/run/other', '');
    const journal = await disk.open('/run/journal', 'r+');
    const other = await disk.open('/run/other', 'r+');
    await other.write(Buffer.from('x'), 0);
    await other.write(Buffer.from('x'), 1);
    expect(await journal.write(Buffer.from('x'), 0)).toBe(1);
    await expect(journal.write(Buffer.from('x'), 1)).rejects.toMatchObject({ code: 'EIO' });
    expect(await journal.write(Buffer.from('x'), 1)).toBe(1);
  });

  it('lasts where it is said, until it is healed', async () => {
    const disk = new ForgetfulDisk({
      faults: [{ code: 'EROFS', call: ['mkdir', 'unlink'], nth: 1, lasting: true }],
    });
    await expect(disk.mkdir('/a')).rejects.toMatchObject({ code: 'EROFS' });
    await expect(disk.mkdir('/a')).rejects.toMatchObject({ code: 'EROFS' });
    disk.heal();
    await disk.mkdir('/a');
    expect(await disk.stat('/a')).toMatchObject({ kind: 'folder' });
  });

  it('has room for so many bytes, and then for none', async () => {
    const disk = new ForgetfulDisk({ capacity: 3 });
    disk.plant('/run/file', '');
    const file = await disk.open('/run/file', 'r+');
    expect(await file.write(Buffer.from('abcde'), 0)).toBe(3);
    await expect(file.write(Buffer.from('de'), 3)).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('answers as a real disk does where something is missing or in the way', async () => {
    const disk = new ForgetfulDisk();
    disk.plant('/run/file', '');
    await expect(disk.open('/run/none', 'r')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(disk.open('/none/file', 'a+')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(disk.open('/run/file/below', 'a+')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(disk.open('/run/file', 'wx')).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(disk.open('/run', 'r')).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(disk.unlink('/run/none')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(disk.rename('/run/none', '/run/b')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
