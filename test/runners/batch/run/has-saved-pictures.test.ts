import { expect, it } from 'vitest';
import type { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { paperRun, type PaperEnd } from '../../../support/paper-run.js';

const edit = { id: 'a', endpoint: 'image-edit', images: ['http://example.test/a.png'], prompt: 'a' };

function withoutFolder(disk: ForgetfulDisk): ForgetfulDisk {
  const stat: ForgetfulDisk['stat'] = (path) =>
    path === '/job/out/images' ? Promise.resolve(undefined) : disk.stat(path);
  return Object.assign(Object.create(disk) as ForgetfulDisk, { stat });
}

const warnings = ({ events }: PaperEnd): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));

it('is asked by a start that finds the folder of pictures gone, and names refetch', async () => {
  const run = paperRun();
  run.manifest([edit]);
  expect(warnings(await run.start())).toEqual([]);
  expect(warnings(await run.start())).toEqual([]);
  const lost = await run.start({ disk: withoutFolder(run.disk) });
  expect(warnings(lost)).toEqual([expect.stringMatching(/^The folder "images" is gone, .*refetch/)]);
  expect(lost.exitCode).toBe(0);
});

it('has nothing to say where no picture was saved', async () => {
  const run = paperRun();
  run.manifest([edit]);
  await run.start({ download: false });
  expect(warnings(await run.start({ download: false, disk: withoutFolder(run.disk) }))).toEqual([]);
});
