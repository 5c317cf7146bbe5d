import { beforeEach, describe, expect, it } from 'vitest';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const path = '/job/manifest.csv';
const prompt = '{{id}} in {{style}}';

describe('a run with axes', () => {
  let run: PaperRun;
  beforeEach(() => {
    run = paperRun();
    run.manifest('id,images\na,https://pictures.test/a.png\nb,https://pictures.test/b.png\n');
  });

  type Matrix = Partial<Omit<Extract<RunBatchOptions['manifest'], { path: string }>, 'path'>>;
  const start = async (manifest: Matrix, options: Partial<RunBatchOptions> = {}) => {
    const given = { path, endpoint: 'image-edit', set: { prompt }, ...manifest };
    const end = await run.start({ manifest: given, concurrency: 1, download: false, ...options });
    const checked = end.events.find((event) => event.type === 'checked');
    return { ...end, ahead: checked?.type === 'checked' ? checked.ahead : undefined };
  };
  const posts = () => run.service.posts.splice(0);
  const oil = { each: { style: ['oil'] } };

  it('buys what is new of more values, and says what is new', async () => {
    expect((await start(oil)).ahead).not.toHaveProperty('axes');
    posts();
    const { ahead } = await start({ each: { style: ['ink', 'oil'] } });
    expect(ahead?.axes?.axes).toEqual([{ name: 'style', added: ['ink'], gone: [] }]);
    expect(posts()).toEqual(['a in ink', 'b in ink']);
    expect((await start({ each: { style: ['oil', 'ink'] } })).ahead).not.toHaveProperty('axes');
    expect(posts()).toEqual([]);
  });

  it('says what is no longer asked for, and keeps it', async () => {
    await start({ each: { style: ['oil', 'ink'] } });
    const { ahead, summary } = await start({ each: { style: ['oil'] } });
    expect(ahead).toMatchObject({ gone: 2, toSend: 0, axes: { axes: [{ name: 'style', gone: ['ink'] }] } });
    expect(summary.rows.completed).toBe(4);
  });

  it.each<[string, Matrix, Matrix, string]>([
    [
      'one more axis',
      oil,
      { each: { style: ['oil'], resolution: ['1k'] } },
      'by style, and this start makes rows by style and resolution',
    ],
    [
      'one axis less',
      { each: { style: ['oil'], resolution: ['1k'] } },
      oil,
      'by style and resolution, and this start makes rows by style',
    ],
    [
      'another axis',
      oil,
      { set: { prompt: '{{id}} in {{look}}' }, each: { look: ['oil'] } },
      'by style, and this start makes rows by look',
    ],
    [
      'no axis after one',
      oil,
      { set: { prompt: '{{id}} plain' } },
      'by style, and this start makes rows without axes',
    ],
    [
      'an axis after none',
      { set: { prompt: '{{id}} plain' } },
      oil,
      'without axes, and this start makes rows by style',
    ],
  ])(
    'refuses %s, whose rows have other ids, unless --add says that it is meant',
    async (_what, first, then, text) => {
      await start(first);
      posts();
      const refused = await start(then);
      expect(refused.exitCode).toBe(2);
      expect(refused.reason).toContain(
        `holds rows ${text}: they have other ids, and all 2 of them would be bought beside the 2`,
      );
      expect(posts()).toEqual([]);
      expect((await start(then, { add: true })).exitCode).toBe(0);
      expect(posts()).toHaveLength(2);
      expect((await start(first)).ahead?.toSend).toBe(0);
      expect((await start(then)).ahead?.toSend).toBe(0);
    },
  );

  it('names rows that it has bought already under other ids, by other axes or after a new name', async () => {
    await start(oil);
    posts();
    const renamed: Matrix = { set: { prompt: '{{id}} in {{look}}' }, each: { look: ['oil', 'ink'] } };
    const { ahead } = await start(renamed, { add: true, limit: 3 });
    expect(ahead?.bought).toEqual({
      rows: 2,
      cost: { estimated: 175_000, unpriced: 0 },
      first: [
        { id: 'a.look-oil', line: 2, sameAsLine: 0, boughtAs: 'a.style-oil' },
        { id: 'b.look-oil', line: 3, sameAsLine: 0, boughtAs: 'b.style-oil' },
      ],
    });
    expect(posts()).toHaveLength(3);
  });

  it('refuses such rows under --same refuse', async () => {
    run.manifest('id,images,prompt\na,https://pictures.test/a.png,dusk\n');
    await start({ set: {} });
    run.manifest(
      'id,images,prompt\nnew,https://pictures.test/a.png,dusk\nother,https://pictures.test/a.png,dawn\n',
    );
    const { exitCode, reason } = await start({ set: {} }, { same: 'refuse' });
    expect([exitCode, reason]).toEqual([
      2,
      expect.stringContaining(
        'line 2 (id "new") asks for what the run has bought already, for row "a", which is not in the manifest or has changed',
      ),
    ]);
    expect(posts()).toEqual(['dusk']);
    const { ahead } = await start({ set: {} });
    expect(ahead?.bought).toMatchObject({ rows: 1 });
  });

  it.each(['keep', 'redo'] as const)(
    'names what rows ask for that were numbered anew, as when a row was put in front (--changed %s)',
    async (changed) => {
      const numbered = (...prompts: string[]) =>
        run.manifest(
          `id,images,prompt\n${prompts.map((text, at) => `${at + 1},https://pictures.test/a.png,${text}\n`).join('')}`,
        );
      numbered('dusk', 'dawn');
      await start({ set: {} });
      numbered('noon', 'dusk', 'dawn', 'eve');
      expect((await start({ set: {} }, { only: ['4'], same: 'refuse' })).exitCode).toBe(0);
      posts();
      const { exitCode, reason } = await start({ set: {} }, { changed, same: 'refuse' });
      expect([exitCode, reason]).toEqual([
        2,
        expect.stringContaining('line 4 (id "3") asks for what the run has bought already'),
      ]);
      expect(reason.includes('line 3 (id "2") asks')).toBe(changed === 'redo');
      expect(posts()).toEqual([]);
    },
  );

  it('says nothing of rows that failed unpaid, of rows that are read, and of repeats', async () => {
    run.manifest('id,images,prompt\na,https://pictures.test/a.png,dusk\n');
    run.service.behave = () => 'reject';
    await start({ set: {} });
    run.service.behave = () => 'complete';
    run.manifest('id,images,prompt\nnew,https://pictures.test/a.png,dusk\n');
    expect((await start({ set: {} }, { add: true })).ahead).not.toHaveProperty('bought');
    expect((await start({ set: {}, repeat: 2 })).ahead).not.toHaveProperty('bought');
    expect(posts()).toHaveLength(3);
  });

  it('notes them in its journal', async () => {
    await start(oil);
    expect(run.lines('journal.jsonl')[0]).toMatchObject({
      k: 'start',
      settings: { axes: [{ name: 'style', values: ['oil'] }] },
    });
  });
});
