import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Disk } from '../../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { imagesFolder } from '../../../../runners/batch/artifacts/artifact-name.js';
import { startEmulator, type Emulator, type QueueFunction } from '../../../../runners/emulator/index.js';
import { runFolder, type RunFolder } from '../../../support/run-folder.js';

/** A disk whose file system takes names for the same that differ in case alone, as those of macOS and Windows do. */
function ignoringCase(disk: Disk, folder: string): Disk {
  const fold = (path: string) =>
    path.startsWith(folder) ? folder + path.slice(folder.length).toLowerCase() : path;
  return {
    open: (path, flags) => disk.open(fold(path), flags),
    rename: (from, to) => disk.rename(fold(from), fold(to)),
    unlink: (path) => disk.unlink(fold(path)),
    mkdir: (path) => disk.mkdir(fold(path)),
    list: (path) => disk.list(fold(path)),
    stat: (path) => disk.stat(fold(path)),
    realPath: (path) => disk.realPath(path),
    syncFolder: (path) => disk.syncFolder(fold(path)),
  };
}

/** A picture of a colour of its own. */
function drawn(shade: number): Promise<Buffer> {
  const background = { r: shade, g: 255 - shade, b: 7 };
  return sharp({ create: { width: 4, height: 4, channels: 3, background } })
    .png()
    .toBuffer();
}

describe('a folder whose file system ignores case', () => {
  const ids = ['mug', 'Mug', 'MUG', 'Straße', 'STRASSE', 'straße', 'plain'];
  let emulator: Emulator;
  let folder: RunFolder;
  beforeEach(async () => {
    folder = runFolder();
    const draw: QueueFunction = async (input) => {
      const { prompt } = input as { prompt: string };
      return { image: (await drawn(ids.indexOf(prompt))).toString('base64'), cost: 0.0875 };
    };
    emulator = await startEmulator({ functions: { queue: { draw } } });
  });
  afterEach(async () => {
    await emulator.close();
    folder.remove();
  });

  it('gives each row its own picture where ids differ in case alone', async () => {
    folder.manifest(
      ids.map((id) => ({ id, endpoint: 'draw', images: ['https://example.com/a.png'], prompt: id })),
    );
    const { baseUrl, lbBaseUrl, apiKey } = emulator;
    const server = { baseUrl, lbBaseUrl, key: apiKey };
    const disk = ignoringCase(nodeDisk, folder.out);
    const first = await folder.run(server, { disk, limit: 3 });
    const second = await folder.run(server, { disk });
    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(emulator.bill()).toHaveLength(ids.length);
    const pictures = await readdir(join(folder.out, imagesFolder));
    expect(pictures).toHaveLength(ids.length);
    expect(folder.lines('results.jsonl')).toHaveLength(ids.length);
    for (const line of folder.lines('results.jsonl')) {
      const { id, image } = line as { id: string; image: { path: string } };
      const bytes = await readFile(join(folder.out, image.path.toLowerCase()));
      expect(bytes.equals(await drawn(ids.indexOf(id))), id).toBe(true);
    }
  });
});
