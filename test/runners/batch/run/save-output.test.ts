import { defer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { refetch } from '../../../../runners/batch/refetch.js';
import type { Download } from '../../../../src/transport/got/download.js';
import { edit } from '../../../support/manifest-rows.js';
import { onePixel } from '../../../support/other-server.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const files: Record<string, Buffer | number> = {
  'a.mp4': Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2 a film', 'latin1'),
  'a.mp3': Buffer.from('ID3\x04 a song'),
  'a.pdf': Buffer.from('%PDF-1.7\n a page\n%%EOF\n'),
  'a.png': onePixel,
  'my%20photo.png': onePixel,
  'my%20film.mp4': Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2 another film', 'latin1'),
  'gone.mp4': 403,
};
const at = (name: string): string => `https://paper.test/files/${name}`;

/** Answers for the files above, and counts what was asked for. */
function hostOf(asked: string[] = []): Download {
  return ({ url }, onChunk) =>
    defer(async () => {
      asked.push(url.slice(url.lastIndexOf('/') + 1));
      const body = files[url.slice(url.lastIndexOf('/') + 1)] ?? 404;
      if (typeof body === 'number') return { status: body, headers: {}, bytes: 0 };
      await onChunk(body);
      return { status: 200, headers: {}, bytes: body.length };
    });
}

/** A run of jobs that answer with this output. */
function jobs(outputs: Record<string, unknown>): PaperRun {
  const run = paperRun();
  run.service.behave = (row) => ({ output: outputs[row] });
  run.manifest(Object.keys(outputs).map((id) => ({ id, endpoint: 'video', input: { row: id } })));
  return run;
}

const result = (run: PaperRun, id = 'a') => run.lines('results.jsonl').find((line) => line['id'] === id);
const warnings = ({ events }: { events: { type: string }[] }) =>
  events.flatMap((event) =>
    event.type === 'warning' ? [(event as unknown as { message: string }).message] : [],
  );

describe('the files of an output that were asked for', () => {
  it('are saved by what their bytes are, several of a row, and stand in the results', async () => {
    const run = jobs({ a: { video_url: at('a.mp4'), all: [{ url: at('a.pdf') }, { url: at('a.mp3') }] } });
    const { exitCode } = await run.start({
      saveOutput: ['output.video_url', 'output.all[].url'],
      saveFrom: hostOf(),
    });
    expect(exitCode).toBe(0);
    const found = result(run)?.['files'] as { field: string; path: string; bytes: number; url: string }[];
    expect(found.map(({ field, path, url }) => [field, path, url])).toEqual([
      ['output.video_url', 'files/a.mp4', at('a.mp4')],
      ['output.all[0].url', 'files/a~2.pdf', at('a.pdf')],
      ['output.all[1].url', 'files/a~3.mp3', at('a.mp3')],
    ]);
    for (const { path, bytes } of found) expect(run.disk.peek(`/job/out/${path}`)).toHaveLength(bytes);
    expect(result(run)).not.toHaveProperty('image');
  });

  it('stand beside the picture of an edit, and what is the picture is not saved twice', async () => {
    const run = paperRun();
    run.service.behave = () => ({ output: { image_url: at('a.png'), video_url: at('a.mp4'), cost: 0.0875 } });
    run.manifest([edit('a')]);
    const asked: string[] = [];
    await run.start({ saveOutput: ['output.image_url', 'output.video_url'], saveFrom: hostOf(asked) });
    expect(result(run)).toMatchObject({
      image: { path: 'images/a.png' },
      files: [{ field: 'output.video_url', path: 'files/a.mp4' }],
    });
    expect(asked).toEqual(['a.png', 'a.mp4']);
  });

  it('are found where their addresses hold blanks, and the picture is saved once', async () => {
    const run = jobs({ a: { image_url: `${at('my photo.png')}\n`, video_url: at('my film.mp4') } });
    const asked: string[] = [];
    const saveOutput = ['output.image_url', 'output.video_url'];
    expect((await run.start({ saveOutput, saveFrom: hostOf(asked) })).exitCode).toBe(0);
    expect(asked).toEqual(['my%20photo.png', 'my%20film.mp4']);
    expect(result(run)).toMatchObject({
      image: { path: 'images/a.png', url: at('my%20photo.png') },
      files: [{ field: 'output.video_url', path: 'files/a.mp4' }],
    });
    await run.disk.unlink('/job/out/images/a.png');
    await run.start({ saveFrom: hostOf(asked) });
    expect(asked).toHaveLength(2);
  });

  it('are files where a URL need not be a picture: no row is warned of for it', async () => {
    const run = jobs({ a: { result: at('a.mp4') } });
    const end = await run.start({ saveOutput: ['output.result'], saveFrom: hostOf() });
    expect(result(run)).toMatchObject({ files: [{ field: 'output.result', path: 'files/a.mp4' }] });
    expect(warnings(end)).toEqual([]);
  });

  it('are taken out of the reply where they are text in it, and their text is replaced by the path', async () => {
    const pdf = Buffer.concat([files['a.pdf'] as Buffer, Buffer.alloc(60, 10)]);
    const run = jobs({
      a: { doc: `data:application/pdf;base64,${pdf.toString('base64')}`, next: at('a.mp4') },
    });
    const { exitCode } = await run.start({ saveOutput: ['output.doc', 'output.next'], saveFrom: hostOf() });
    expect(exitCode).toBe(0);
    expect(result(run)).toMatchObject({
      output: { doc: 'files/a.pdf', next: at('a.mp4') },
      files: [
        { field: 'output.doc', path: 'files/a.pdf', bytes: pdf.length },
        { field: 'output.next', path: 'files/a~2.mp4' },
      ],
    });
    expect(run.text('journal.jsonl')).not.toContain(pdf.toString('base64'));
  });

  it('a picture that came cut short in its reply is saved as it came, and named once', async () => {
    const cut = onePixel.subarray(0, -8).toString('base64');
    const run = jobs({ a: { image: cut }, b: { image: cut }, c: { image: onePixel.toString('base64') } });
    const end = await run.start();
    expect(end.exitCode).toBe(0);
    expect(result(run)).toMatchObject({ image: { path: 'images/a.png', bytes: onePixel.length - 8 } });
    expect(warnings(end)).toEqual([
      `Row "a" has a picture that is cut short in its reply: the end is not among its ${onePixel.length - 8} bytes. It is saved as it came. Others like it are not reported.`,
    ]);
  });

  it('a field that has none is a problem of the row, named once, and no loss of it', async () => {
    const run = jobs({ a: { video_url: at('a.mp4') }, b: { vido_url: at('a.mp4') }, c: {} });
    const end = await run.start({ saveOutput: ['output.video_url'], saveFrom: hostOf() });
    expect(end.exitCode).toBe(0);
    expect(result(run, 'b')).toMatchObject({
      status: 'completed',
      files: [{ field: 'output.video_url', problem: 'is not in the output' }],
    });
    expect(warnings(end)).toEqual([expect.stringMatching(/output\.video_url is not in the output/)]);
  });

  it('one that cannot be had keeps what is saved; a later start asks for the rest alone, and buys nothing', async () => {
    const run = jobs({ a: { one: at('a.mp4'), two: at('gone.mp4') } });
    const first = await run.start({ saveOutput: ['output.one', 'output.two'], saveFrom: hostOf() });
    expect(first.exitCode).toBe(1);
    expect(run.lines('failures.jsonl')).toMatchObject([
      {
        error: {
          code: 'download',
          paid: 'yes',
          message: expect.stringMatching(/^output\.two: .*HTTP 403/) as string,
        },
      },
    ]);
    files['gone.mp4'] = files['a.mp4'] as Buffer;
    const asked: string[] = [];
    const second = await run.start({ saveFrom: hostOf(asked) });
    files['gone.mp4'] = 403;
    expect(second.exitCode).toBe(0);
    expect(asked).toEqual(['gone.mp4']);
    expect(result(run)).toMatchObject({ files: [{ path: 'files/a.mp4' }, { path: 'files/a~2.mp4' }] });
    expect(run.service.posts).toEqual(['a']);
  });
});

describe('the run remembers what is saved', () => {
  it('and a row whose further file cannot be had keeps its result, until it is there with all of them', async () => {
    const run = jobs({ a: { one: at('a.mp4'), two: at('gone.mp4') } });
    await run.start({ saveOutput: ['output.one'], saveFrom: hostOf() });
    const before = run.lines('results.jsonl');
    const more = await run.start({ saveOutput: ['output.one', 'output.two'], saveFrom: hostOf() });
    expect(more.summary.rows).toMatchObject({ completed: 0, failed: 1 });
    expect(run.lines('results.jsonl')).toEqual(before);
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'download' } }]);
    files['gone.mp4'] = files['a.mp4'] as Buffer;
    const last = await run.start({ saveFrom: hostOf() });
    files['gone.mp4'] = 403;
    expect(last.exitCode).toBe(0);
    expect(run.lines('results.jsonl')).toMatchObject([
      { id: 'a', files: [{ path: 'files/a.mp4' }, { path: 'files/a~2.mp4' }] },
    ]);
    expect([run.text('failures.jsonl'), run.text('earlier.jsonl')]).toEqual(['', '']);
    expect(run.service.posts).toEqual(['a']);
  });

  it('and a start that asks for more downloads it of rows that had completed, and says so', async () => {
    const run = jobs({ a: { one: at('a.mp4'), two: at('a.pdf') }, b: { one: at('a.mp4') } });
    await run.start({ saveOutput: ['output.one'], saveFrom: hostOf() });
    const asked: string[] = [];
    const more = await run.start({ saveOutput: ['output.one', 'output.two'], saveFrom: hostOf(asked) });
    expect(asked).toEqual(['a.pdf']);
    expect(more.exitCode).toBe(0);
    expect(warnings(more)).toEqual([
      expect.stringMatching(/^1 completed row has files .*output\.one, output\.two/),
    ]);
    expect(result(run)).toMatchObject({ files: [{ path: 'files/a.mp4' }, { path: 'files/a~2.pdf' }] });
    expect(run.lines('results.jsonl')).toHaveLength(2);
    expect(run.service.posts).toEqual(['a', 'b']);
    const again: string[] = [];
    expect((await run.start({ saveFrom: hostOf(again) })).reason).toContain('Nothing to do');
    expect(again).toEqual([]);
  });

  it('until null ends it', async () => {
    const run = jobs({ a: { one: at('a.mp4') }, b: { one: at('a.mp4') }, c: { one: at('a.mp4') } });
    await run.start({ saveOutput: ['output.one'], only: ['a'], saveFrom: hostOf() });
    await run.start({ only: ['b'], saveFrom: hostOf() });
    await run.start({ saveOutput: null, saveFrom: hostOf() });
    expect(run.lines('results.jsonl').map((line) => [line['id'], 'files' in line])).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
    ]);
  });

  it('is refused where a path is none, before anything is written', async () => {
    const run = jobs({ a: {} });
    expect(await run.start({ saveOutput: ['video_url'] })).toMatchObject({
      exitCode: 2,
      reason: expect.stringContaining('did you mean output.video_url?') as string,
    });
  });

  it('and leaves files at their URLs with the pictures; refetch downloads them', async () => {
    const run = jobs({ a: { one: at('a.mp4'), two: at('a.pdf') } });
    await run.start({ saveOutput: ['output.one', 'output.two'], download: false, saveFrom: hostOf() });
    expect(result(run)).toMatchObject({ files: [{ field: 'output.one', url: at('a.mp4') }, {}] });
    const hold = () => Promise.resolve({ release: () => Promise.resolve() });
    const { disk, scheduler } = run;
    const end = await run.follow(refetch('/job/out', { disk, scheduler, hold, saveFrom: hostOf() }));
    expect(end.reason).toBe('0 pictures and 2 files saved, none is missing.');
    expect(result(run)).toMatchObject({ files: [{ path: 'files/a.mp4' }, { path: 'files/a~2.pdf' }] });
    await disk.unlink('/job/out/files/a.mp4');
    const asked: string[] = [];
    await run.follow(refetch('/job/out', { disk, scheduler, hold, saveFrom: hostOf(asked) }));
    expect(asked).toEqual(['a.mp4']);
    expect(run.disk.peek('/job/out/files/a.mp4')).toEqual(files['a.mp4']);
  });

  it('has a column of paths in results.csv, where files are saved', async () => {
    const run = paperRun();
    run.service.behave = () => ({ output: { one: at('a.mp4'), two: at('a.pdf') } });
    run.manifest('id,endpoint,input.row\na,video,a\n');
    await run.start({ saveFrom: hostOf() });
    expect(run.text('results.csv').split('\n')[0]).not.toContain('files.path');
    await run.start({ saveOutput: ['output.one', 'output.two'], saveFrom: hostOf() });
    const [head = '', line = ''] = run.text('results.csv').split('\n');
    expect(head.split(',')).toContain('files.path');
    expect(line).toContain('files/a.mp4 | files/a~2.pdf');
  });
});
