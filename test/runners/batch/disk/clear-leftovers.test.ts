import { expect, it } from 'vitest';
import { clearLeftovers, clearUnsaved } from '../../../../runners/batch/disk/replace-file.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const left = [
  'poll-law.json.tmp',
  'summary.json.tmp',
  'results.csv.tmp',
  `images/.${'0a'.repeat(10)}.part`,
  `files/.${'0b'.repeat(10)}.abababab.part`,
  `files/.${'0c'.repeat(10)}.note`,
  `files/.${'0d'.repeat(10)}.note.tmp`,
  'thumbnails/a #1.png.abababab.webp.tmp',
];
const kept = [
  'summary.json',
  'notes.tmp',
  'images/a.part',
  `files/.${'0d'.repeat(10)}.abababab.part`,
  `files/.${'0d'.repeat(10)}.note`,
  'images/a.png',
  'thumbnails/a.png.abababab.webp',
  'x.part',
];

it('takes away what a start that died left half written, and nothing else [fault 15]', async () => {
  const disk = new ForgetfulDisk();
  for (const name of [...left, ...kept]) disk.plant(`/out/${name}`, 'x');
  await clearLeftovers(disk, '/out');
  await clearUnsaved(disk, '/out');
  expect(disk.paths()).toEqual(kept.map((name) => `/out/${name}`).sort());
});

it('does not mind a folder without pictures, nor a file that stays', async () => {
  const disk = new ForgetfulDisk({ faults: [{ code: 'EROFS', call: 'unlink' }] });
  disk.plant('/out/summary.json.tmp', 'x');
  await clearLeftovers(disk, '/out');
  await clearUnsaved(disk, '/out');
  expect(disk.paths()).toEqual(['/out/summary.json.tmp']);
});
