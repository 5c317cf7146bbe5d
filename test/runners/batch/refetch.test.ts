import { describe, expect, it } from 'vitest';
import { refetch, type RefetchOptions } from '../../../runners/batch/refetch.js';
import { edit } from '../../support/manifest-rows.js';
import { onePixel } from '../../support/other-server.js';
import { paperRun, type PaperRun } from '../../support/paper-run.js';

const hold = () => Promise.resolve({ release: () => Promise.resolve() });

function fetchMissing(run: PaperRun, options: RefetchOptions = {}) {
  const { disk, scheduler, service } = run;
  return run.follow(
    refetch('/job/out', {
      disk,
      scheduler,
      hold,
      saveFrom: service.download,
      random: () => 0.5,
      downloads: 1,
      makeThumbnail: () => Promise.resolve(undefined),
      ...options,
    }),
  );
}

describe('refetch', () => {
  it('saves what failed, buys nothing, and the rows are completed', async () => {
    const run = paperRun();
    run.service.picture = (url) => (url.includes('b') ? 404 : 200);
    run.manifest([edit('a'), edit('b')]);
    expect((await run.start()).exitCode).toBe(1);
    run.service.picture = () => 200;
    const end = await fetchMissing(run);
    expect(end).toMatchObject({
      exitCode: 0,
      summary: { rows: { completed: 2, failed: 0 }, cost: { reported: 0.175 } },
    });
    expect(end.reason).toBe('1 picture saved, none is missing.');
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(run.lines('results.jsonl').map(({ id }) => id)).toEqual(['a', 'b']);
    expect(run.costs()).toHaveLength(2);
    expect(run.service.posts).toEqual(['a', 'b']);
    expect((await run.start()).reason).toContain('Nothing to do');
  });

  it('saves pictures that were left at their URLs, and those that are gone from the folder', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start({ download: false, only: ['a'] });
    expect(run.lines('results.jsonl')).toMatchObject([
      {
        id: 'a',
        image: {
          url: 'https://paper.test/pictures/a.png',
          expiresAt: expect.stringMatching(/^2027-01-08/) as string,
        },
      },
    ]);
    await run.start();
    await run.disk.unlink('/job/out/images/b.png');
    const end = await fetchMissing(run);
    expect(end.reason).toBe('2 pictures saved, none is missing.');
    expect(run.disk.paths().filter((path) => path.includes('images/'))).toEqual([
      '/job/out/images/a.png',
      '/job/out/images/b.png',
    ]);
    expect(run.lines('results.jsonl')).toMatchObject([
      { image: { path: 'images/a.png' } },
      { image: { path: 'images/b.png' } },
    ]);
    expect((await fetchMissing(run)).reason).toBe('0 pictures saved, none is missing.');
  });

  it('names what cannot be had, and leaves the row as it is', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    await run.disk.unlink('/job/out/images/a.png');
    run.service.picture = () => 403;
    const end = await fetchMissing(run);
    expect(end.exitCode).toBe(1);
    expect(end.events).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('"a"') as string }),
    );
    expect(run.lines('results.jsonl')).toHaveLength(2);
    expect(run.lines('failures.jsonl')).toEqual([]);
  });

  it('names a picture that came in the reply and is gone from the folder: no URL brings it back', async () => {
    const run = paperRun();
    run.service.behave = () => 'inline';
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    await run.disk.unlink('/job/out/images/a.png');
    const before = run.disk.peek('/job/out/journal.jsonl');
    const end = await fetchMissing(run);
    expect(end.exitCode).toBe(1);
    expect(end.reason).toContain('0 pictures saved, 1 could not be downloaded');
    expect(end.events).toContainEqual(
      expect.objectContaining({
        type: 'warning',
        message:
          'Row "a": images/a.png came in the reply itself and is gone from the folder: it cannot be downloaded',
      }),
    );
    expect(run.disk.peek('/job/out/journal.jsonl')).toEqual(before);
  });

  it('fetches the picture that could not be fetched, and keeps the one from the reply until then', async () => {
    const run = paperRun();
    const image_url = 'https://paper.test/pictures/a.png';
    const [preview, mask] = ['a smaller one', 'mask'].map((name) =>
      Buffer.concat([onePixel, Buffer.from(name)]).toString('base64'),
    );
    run.service.behave = () => ({ output: { preview, deeper: { mask }, image_url, cost: 0.0875 } });
    run.service.picture = () => 404;
    run.manifest([edit('a')]);
    await run.start();
    const before = run.disk.peek('/job/out/journal.jsonl');
    const end = await fetchMissing(run);
    expect(end.exitCode).toBe(1);
    expect(end.events).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('HTTP 404') as string }),
    );
    expect(run.disk.peek('/job/out/journal.jsonl')).toEqual(before);
    expect(run.lines('results.jsonl')).toMatchObject([{ image: { problem: 'HTTP 404' } }]);
    run.service.picture = () => 200;
    expect((await fetchMissing(run)).reason).toBe('1 picture saved, none is missing.');
    const [line] = run.lines('results.jsonl') as { image: { path: string; url: string } }[];
    expect(line?.image.url).toBe(image_url);
    expect(line?.image).not.toHaveProperty('problem');
    expect(run.disk.peek(`/job/out/${line?.image.path}`)).toEqual(onePixel);
    expect(run.costs()).toHaveLength(1);
    expect((await fetchMissing(run)).reason).toBe('0 pictures saved, none is missing.');
    expect((await run.start()).reason).toContain('Nothing to do');
  });

  it('saves the picture of the reply where the one at the URL is gone, and says that it is another', async () => {
    const run = paperRun();
    const image_url = 'https://paper.test/pictures/a.png';
    run.service.behave = () => ({ output: { preview: onePixel.toString('base64'), image_url } });
    run.service.picture = () => 503;
    run.manifest([edit('a')]);
    expect((await run.start()).exitCode).toBe(1);
    run.service.picture = () => 410;
    const end = await fetchMissing(run);
    expect(end).toMatchObject({ exitCode: 1, summary: { rows: { completed: 1, failed: 0 } } });
    expect(end.reason).toContain('1 picture saved, 1 could not be downloaded');
    expect(end.events).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('may be a smaller preview') as string }),
    );
    expect(run.lines('results.jsonl')).toMatchObject([{ image: { problem: 'HTTP 410' } }]);
  });

  it('fetches a picture from the URL beside its text, once the file is gone from the folder', async () => {
    const run = paperRun();
    const image_url = 'https://paper.test/pictures/a.png';
    const encoded = `data:image/png;base64,${onePixel.toString('base64')}`;
    run.service.behave = () => ({ output: { encoded, image_url } });
    run.manifest([{ ...edit('a'), enable_base64_output: true }]);
    await run.start();
    await run.disk.unlink('/job/out/images/a.png');
    expect((await fetchMissing(run)).reason).toBe('1 picture saved, none is missing.');
    expect(run.lines('results.jsonl')).toMatchObject([{ image: { path: 'images/a.png', url: image_url } }]);
    expect(run.costs()).toHaveLength(1);
    await run.disk.unlink('/job/out/images/a.png');
    expect((await fetchMissing(run)).exitCode).toBe(0);
    expect((await run.start()).reason).toContain('Nothing to do');
  });

  it('counts the status calls of a purchase once, also where its picture is fetched later', async () => {
    const run = paperRun();
    run.service.picture = () => 404;
    run.service.behave = () => ({ output: { image_url: 'https://paper.test/pictures/a.png' } });
    run.manifest([{ id: 'a', endpoint: 'echo', input: { row: 'a' } }]);
    const { summary } = await run.start();
    expect(summary.statusCalls).toBe(2);
    await run.start();
    run.service.picture = () => 200;
    expect((await fetchMissing(run)).summary.statusCalls).toBe(2);
    await run.disk.unlink('/job/out/images/a.png');
    expect((await fetchMissing(run)).summary.statusCalls).toBe(2);
  });

  it('says that there is no run', async () => {
    expect(await fetchMissing(paperRun())).toMatchObject({ exitCode: 2 });
  });
});
