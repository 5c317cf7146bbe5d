import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { PricedBytes } from '../../../../runners/batch/tasks/priced-bytes.js';
import { collect } from '../../../support/collect.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const header = 'id,endpoint,input.row,input.text\n';
const line = (id: string, text = 'x') => `${id},echo,${id},${text}\n`;
/** Rows of about 8 kB: eight of them lie in one block that is compared. */
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => line(`row-${from + at}`, 'x'.repeat(8_000))).join('');

/** Starts a run of `text`, and does something to the manifest while its price is asked about. */
async function startWhile(
  run: PaperRun,
  text: string | Buffer,
  path: string,
  change: () => unknown,
  more: Partial<RunBatchOptions> = {},
): Promise<PaperEnd & { readonly asked: number[] }> {
  run.disk.plant(path, text);
  const asked: number[] = [];
  const end = await run.start({
    manifest: { path },
    confirm: async (plan) => {
      asked.push(plan.rows);
      await change();
      return true;
    },
    ...more,
  });
  return { ...end, asked };
}

async function overwrite(run: PaperRun, path: string, text: string, position: number): Promise<void> {
  const file = await run.disk.open(path, 'r+');
  await file.write(Buffer.from(text), position);
  await file.close();
}

const csv = '/job/edits.csv';
const warnings = ({ events }: PaperEnd) =>
  events.flatMap((event) => (event.type === 'warning' ? [`${event.code}: ${event.message}`] : []));

describe('a manifest that grows after it was priced', () => {
  it.each([
    ['csv', csv, header + line('a') + line('b'), line('c') + line('d')],
    [
      'jsonl',
      '/job/edits.jsonl',
      '{"id":"a","endpoint":"echo","input":{"row":"a"}}\n{"id":"b","endpoint":"echo","input":{"row":"b"}}\n',
      '{"id":"c","endpoint":"echo","input":{"row":"c"}}\n',
    ],
  ])(
    '%s: what was appended waits for the next start, and this one says so [fault 19c]',
    async (_, path, text, more) => {
      const run = paperRun();
      const end = await startWhile(run, text, path, () => overwrite(run, path, more, text.length));
      expect(end).toMatchObject({ exitCode: 0, asked: [2] });
      expect(run.service.posts).toEqual(['a', 'b']);
      expect(warnings(end)).toEqual([expect.stringMatching(/^grown: .* has grown/)]);
      const next = await run.start({ manifest: { path } });
      expect(next.exitCode).toBe(0);
      expect(run.service.posts.slice(2, 3)).toEqual(['c']);
    },
  );

  it('takes the last row as it was priced where its line goes on', async () => {
    const run = paperRun();
    const text = `${header}${line('a')}b,echo,b,half`;
    const end = await startWhile(run, text, csv, () =>
      overwrite(run, csv, ` a text\nc,echo,c,x\n`, text.length),
    );
    expect(end.exitCode).toBe(0);
    expect(run.lines('results.jsonl').map(({ request }) => (request as { input: object }).input)).toEqual([
      { row: 'a', text: 'x' },
      { row: 'b', text: 'half' },
    ]);
    expect(warnings(end)).toEqual([expect.stringMatching(/^manifest: .* last row/)]);
  });

  it('gzip: a part that is put behind waits too', async () => {
    const run = paperRun();
    const path = '/job/edits.csv.gz';
    const first = gzipSync(header + line('a'));
    const end = await startWhile(run, first, path, () =>
      run.disk.plant(path, Buffer.concat([first, gzipSync(line('b'))])),
    );
    expect(end).toMatchObject({ exitCode: 0, asked: [1] });
    expect(run.service.posts).toEqual(['a']);
    const unset = { path, gzip: undefined, format: undefined, name: undefined };
    expect((await run.start({ manifest: unset })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('grows while it is bought, beyond the block that was the last', async () => {
    const run = paperRun();
    run.disk.plant(csv, header + lines(0, 20));
    const { size } = (await run.disk.stat(csv)) ?? { size: 0 };
    const { exitCode } = await run.start({
      manifest: { path: csv },
      concurrency: 1,
      deliver: async ({ id }) => {
        if (id === 'row-3') await overwrite(run, csv, lines(20, 60), size);
      },
    });
    expect(exitCode).toBe(0);
    expect(run.service.posts).toHaveLength(20);
  });
});

describe('a manifest of which a priced byte has changed', () => {
  const text = header + line('a') + line('b');

  it.each([
    ['edited in place with the same length', (run: PaperRun) => overwrite(run, csv, 'Z', text.length - 2)],
    ['cut', (run: PaperRun) => run.disk.plant(csv, header + line('a'))],
    ['emptied', (run: PaperRun) => run.disk.plant(csv, '')],
    ['replaced by another', (run: PaperRun) => run.disk.plant(csv, header + line('y') + line('z'))],
    ['removed', (run: PaperRun) => run.disk.unlink(csv)],
  ])('%s at the question: exit 2, and nothing is sent', async (_, change) => {
    const run = paperRun();
    const end = await startWhile(run, text, csv, () => change(run));
    expect(end.exitCode).toBe(2);
    expect(end.reason).toContain(csv);
    expect(end.reason).toMatch(/nothing was sent/i);
    expect(run.service.posts).toEqual([]);
    run.disk.plant(csv, text);
    expect((await run.start({ manifest: { path: csv } })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('gzip: packed anew at the question', async () => {
    const run = paperRun();
    const path = '/job/edits.csv.gz';
    const end = await startWhile(run, gzipSync(text), path, () =>
      run.disk.plant(path, gzipSync(header + line('a') + line('y'))),
    );
    expect(end.exitCode).toBe(2);
    expect(run.service.posts).toEqual([]);
  });

  it('edited far behind while it is bought: stops before that row with 74, and names the place [fault 19c]', async () => {
    const run = paperRun();
    const big = header + lines(0, 120);
    run.disk.plant(csv, big);
    const at = big.indexOf('row-100');
    const end = await run.start({
      manifest: { path: csv },
      concurrency: 1,
      deliver: async ({ id }) => {
        if (id === 'row-3') await overwrite(run, csv, 'ROW', at);
      },
    });
    expect(end.exitCode).toBe(74);
    const sent = run.service.posts.length;
    expect(sent).toBeGreaterThan(90);
    expect(sent).toBeLessThanOrEqual(100);
    expect(end.reason).toMatch(/line (9\d|10\d)/);
    expect(run.service.posts).not.toContain('ROW-100');
    const rest = await run.start({ manifest: { path: csv } });
    expect(rest.exitCode).toBe(0);
    expect(run.service.posts).toHaveLength(120);
    expect(new Set(run.service.posts).size).toBe(120);
  });

  it('cut while it is bought: 74, also where it ends at the end of a line', async () => {
    const run = paperRun();
    run.disk.plant(csv, header + lines(0, 40));
    const end = await run.start({
      manifest: { path: csv },
      concurrency: 1,
      deliver: async ({ id }) => {
        if (id !== 'row-3') return;
        const file = await run.disk.open(csv, 'r+');
        await file.truncate((header + lines(0, 30)).length);
      },
    });
    expect(end.exitCode).toBe(74);
    expect(run.service.posts.length).toBeLessThan(31);
  });

  it.each([
    [2, 2],
    [4, 74],
  ])('not to be read on from block %i, as on a disk that goes away: %i', async (block, exitCode) => {
    const text = header + lines(0, 40);
    const reads = Math.ceil(text.length / 65_536) + 1;
    const nth = reads + block - 1;
    const run = paperRun({
      random: () => 0.5,
      faults: [{ code: 'EIO', call: 'read', path: csv, nth, lasting: true }],
    });
    run.disk.plant(csv, text);
    const end = await run.start({ manifest: { path: csv }, concurrency: 1 });
    const isSending = run.service.posts.length > 0;
    expect([end.exitCode, isSending]).toEqual([exitCode, exitCode === 74]);
    expect(end.reason).toContain(
      `cannot be read: the disk reports a fault (EIO). ${isSending ? 'Rows before that place were sent, no other is' : 'Nothing was sent'}. Put it right and run`,
    );
    run.disk.heal();
    expect((await run.start({ manifest: { path: csv } })).exitCode).toBe(0);
    expect(run.service.posts).toHaveLength(40);
  });

  it('holds rows that are taken up again to it before anything is sent', async () => {
    const run = paperRun();
    run.service.behave = () => 'fail';
    run.disk.plant(csv, text);
    expect((await run.start({ manifest: { path: csv } })).exitCode).toBe(1);
    const end = await startWhile(run, text, csv, () => overwrite(run, csv, 'Z', text.length - 2), {
      retry: ['failed'],
    });
    expect(end.exitCode).toBe(2);
    expect(run.service.posts).toHaveLength(2);
  });
});

describe('a manifest that was read before the run', () => {
  const text = header + line('a') + line('b');
  const readBefore = async (run: PaperRun): Promise<PricedBytes> => {
    run.disk.plant(csv, text);
    const bytes = new PricedBytes();
    const reading = bytes.read(run.disk, csv, { name: csv, format: 'csv', gzip: false });
    while ((await reading.next()).done !== true);
    return bytes;
  };

  it('is priced and bought as it was then, as a start by a saved plan needs it', async () => {
    const run = paperRun();
    const bytes = await readBefore(run);
    run.disk.plant(csv, text + line('c'));
    const end = await run.start({ manifest: { path: csv, bytes } });
    expect(end.exitCode).toBe(0);
    expect(end.events).toContainEqual(
      expect.objectContaining({ type: 'checked', plan: expect.objectContaining({ rows: 2 }) }),
    );
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('stops the check where it has changed since', async () => {
    const run = paperRun();
    const bytes = await readBefore(run);
    run.disk.plant(csv, text.replace('a,echo', 'y,echo'));
    expect((await run.start({ manifest: { path: csv, bytes } })).exitCode).toBe(2);
    expect(run.service.posts).toEqual([]);
  });
});

describe('a manifest that is as it was priced', () => {
  it('may be replaced by the same bytes, and read in short pieces', async () => {
    const run = paperRun({ shortTransfers: true });
    const big = header + lines(0, 40);
    const end = await startWhile(run, big, csv, () => run.disk.plant(csv, big));
    expect(end.exitCode).toBe(0);
    expect(run.service.posts).toHaveLength(40);
    expect(warnings(end)).toEqual([]);
  });
});

describe('a manifest whose bytes were looked at first', () => {
  const source = { name: 'edits.csv', format: 'csv', gzip: false } as const;
  const content = `${header}${line('a', '"x\ny"')}${lines(0, 60)}`;

  it('is read as one that was not: the same sums, sections and bytes', async () => {
    const { disk } = paperRun();
    disk.plant(csv, content);
    const [looked, fresh] = [new PricedBytes(), new PricedBytes()];
    const found = await looked.look(disk, csv, source);
    expect(looked.sections).toEqual([]);
    const [again, first] = [
      await collect(looked.read(disk, csv, source)),
      await collect(fresh.read(disk, csv, source)),
    ];
    expect(Buffer.concat(again).toString()).toBe(content);
    expect(again).toEqual(first);
    expect([looked.found, looked.sections]).toEqual([found, fresh.sections]);
    expect([fresh.found, fresh.sections.length > 3]).toEqual([found, true]);
  });

  it('is held to what an earlier reading found', async () => {
    const run = paperRun();
    run.disk.plant(csv, content);
    const bytes = new PricedBytes();
    await collect(bytes.read(run.disk, csv, source));
    await overwrite(run, csv, 'y', content.length - 2);
    await expect(bytes.look(run.disk, csv, source)).rejects.toThrow('no longer what it was');
  });
});
