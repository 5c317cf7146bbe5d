import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageRow, RunFacts } from '../../../../../runners/report/page-data.js';
import { chosenAxes, chosenList } from '../../../../../runners/report/pick/chosen-list.js';
import type { Review } from '../../../../../runners/report/page/review/redo-manifest.js';
import {
  fitsCsv,
  redoCommand,
  redoManifest,
} from '../../../../../runners/report/page/review/redo-manifest.js';
import { rejectedAttempt } from '../../../../../runners/batch/manifest/matrix/redo-columns.js';
import { rowOfResult } from '../../../../../runners/report/rows/row-of-line.js';
import { readManifest } from '../../../../../runners/batch/manifest/read-manifest.js';
import type { ManifestItem } from '../../../../../runners/batch/manifest/manifest-row.js';
import { collect } from '../../../../support/collect.js';

const review = (more: Partial<Review> = {}): Review => ({
  row: 1,
  of: 'j',
  failed: false,
  cost: 87_500,
  ...more,
});
const run: RunFacts = {
  key: 'k',
  name: 'edits.csv',
  folder: 'edits.out',
  manifestFolder: '',
  options: [],
  isRehearsal: false,
  manifestFormat: 'csv',
  axes: [],
  hasPictures: true,
};

/** A completed row as the report knows it. */
function pageRow(id: string, request: object, more: object = {}): PageRow {
  const line = {
    id,
    row: 1,
    kind: 'edit',
    endpoint: 'image-edit',
    jobId: `job-${id}`,
    status: 'completed',
    request,
    columns: {},
    ...more,
  };
  return { ...rowOfResult(line, false), references: [] };
}

function read(text: string, format: 'csv' | 'jsonl'): Promise<ManifestItem[]> {
  const bytes = (async function* () {
    yield Buffer.from(text);
  })();
  return collect(
    readManifest(bytes, {
      name: 'redo',
      format,
      gzip: false,
      resolveImage: (path) => `https://files.test/${path}`,
    }),
  );
}

const edit = {
  input: {
    images: ['https://a.test/1.png', 'photos/two.png'],
    prompt: 'a "red", mug\nand more',
    resolution: '2k',
    aspect_ratio: '3:2',
    seed: 7,
    deep: { a: [1, null] },
  },
};

/** Paths are served from somewhere. */
const sent = { ...edit.input, images: ['https://a.test/1.png', 'https://files.test/photos/two.png'] };

describe.each(['csv', 'jsonl'] as const)('redoManifest as %s', (format) => {
  it('sends what was sent, for edits, jobs and routes', async () => {
    const rows = [
      pageRow('e', edit, { columns: { note: 'mine' } }),
      pageRow('j', { input: { text: 'hello', n: 1 } }, { kind: 'job', endpoint: 'echo' }),
      pageRow('r', { method: 'POST', route: '/echo', body: { a: 1 } }, { kind: 'route', endpoint: '' }),
    ];
    const items = await read(
      redoManifest(
        rows.map((row) => ({ row, review: review() })),
        format,
      ),
      format,
    );
    expect(items.map((item) => (item.valid ? item.row.request : item.row.problems))).toEqual([
      { kind: 'edit', input: sent },
      { kind: 'job', input: { text: 'hello', n: 1 } },
      { kind: 'route', method: 'POST', route: '/echo', body: { a: 1 } },
    ]);
    expect(items.map((item) => item.valid && [item.row.id, item.row.endpoint])).toEqual([
      ['e', 'image-edit'],
      ['j', 'echo'],
      ['r', ''],
    ]);
    expect(items[0]!.valid && items[0]!.row.columns).toMatchObject({ note: 'mine', redo: 'job-e' });
  });

  it('keeps texts texts and numbers numbers in fields beyond those of an edit', async () => {
    const input = {
      images: ['https://a.test/1.png'],
      prompt: 'p',
      a: '42',
      b: 'true',
      c: '007',
      d: '[1]',
      e: 42,
      f: true,
      g: null,
      h: 'text',
      i: { j: '1' },
    };
    const [item] = await read(
      redoManifest([{ row: pageRow('e', { input }), review: review() }], format),
      format,
    );
    expect(item!.valid && item!.row.request).toEqual({ kind: 'edit', input });
  });

  it('is other content than what was bought, also unchanged, and the same whenever it is read', async () => {
    const row = pageRow('e', edit);
    const again = redoManifest([{ row, review: review() }], format);
    const original = JSON.stringify({ ...row.cells });
    const hashes = await Promise.all([read(again, format), read(again, format), read(original, 'jsonl')]);
    const [first, second, before] = hashes.map(([item]) => item!.valid && item!.row.hash);
    expect(first).toBe(second);
    expect(first).not.toBe(before);
  });

  it('sends the changes that were made', async () => {
    const row = pageRow('e', edit);
    const [item] = await read(
      redoManifest([{ row, review: review({ prompt: 'a blue mug', resolution: '4k' }) }], format),
      format,
    );
    expect(item!.valid && item!.row.request).toMatchObject({
      input: { ...sent, prompt: 'a blue mug', resolution: '4k' },
    });
  });
});

describe('redoManifest', () => {
  it.each(['csv', 'jsonl'] as const)(
    'names as %s the purchase that was rejected, which is not a column of a person',
    async (format) => {
      const row = pageRow('e', edit, { attempts: 2 });
      const [item] = await read(redoManifest([{ row, review: review() }], format), format);
      expect(item?.valid && rejectedAttempt(item.row)).toBe(2);
      expect(item?.valid && item.row.columns).toEqual({ redo: 'job-e' });
    },
  );

  it('keeps any prompt to the letter that a CSV may hold', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', '|', "'", 'é', '\u2028', '🙂', '='),
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(text, async (words) => {
        const prompt = `p${words}.`;
        const rejected = [
          {
            row: pageRow('e', { input: { images: ['https://a.test/1.png'], prompt } }),
            review: review(),
          },
        ];
        const [item] = await read(redoManifest(rejected, 'csv'), 'csv');
        expect(item!.valid && item!.row.request).toMatchObject({ input: { prompt } });
      }),
      { numRuns: 50 },
    );
  });

  it('does not fit a CSV when a text begins like a formula', () => {
    const rejected = (prompt: string) => [
      { row: pageRow('e', { input: { images: ['https://a.test/1.png'], prompt } }), review: review() },
    ];
    // Excel takes a full-width sign for a formula, too.
    for (const prompt of ['=cmd()', '+1', '-1', '@x', '\tx', '\uff1dcmd()', '\uff201'])
      expect(fitsCsv(rejected(prompt)), prompt).toBe(false);
    expect(fitsCsv(rejected('a mug = red'))).toBe(true);
  });

  it('lists a kept text that begins like a formula as text, and reads it back', () => {
    const prompt = '\uff1dcmd()';
    const [, line = ''] = chosenList([{ id: 'e', row: 1, file: '', prompt }]).split('\r\n');
    expect(line.split(',')[5]).toBe(`'${prompt}`);
    expect(chosenAxes({ tone: `'${prompt}` })).toEqual({ tone: prompt });
  });

  it('sends a failed row again as it stands in failures.jsonl, without what became of it', () => {
    const row: PageRow = {
      id: 'f',
      row: 2,
      kind: 'edit',
      status: 'rejected',
      references: [],
      cells: { id: 'f', images: 'a.png', prompt: 'x', note: 'n' },
    };
    expect(
      JSON.parse(redoManifest([{ row, review: review({ failed: true, prompt: 'y' }) }], 'jsonl')),
    ).toEqual({
      id: 'f',
      images: 'a.png',
      prompt: 'y',
      note: 'n',
    });
  });
});

describe('redoCommand', () => {
  it('takes the manifest into the same folder', () => {
    expect(redoCommand('edits.redo.csv', [review()], run)).toBe(
      'millrace run edits.redo.csv --out edits.out --changed redo',
    );
  });

  it('names the manifest beside that of the run, where its pictures are', () => {
    expect(redoCommand('a.csv', [review()], { ...run, manifestFolder: '/photos of me/' })).toMatch(
      /^millrace run '\/photos of me\/a\.csv' --out /,
    );
  });

  it('retries failed rows too when some are among the rejected, and names what the run needs', () => {
    expect(redoCommand('a.csv', [review({ failed: true })], { ...run, options: ['--local'] })).toMatch(
      /--changed redo --retry failed --local$/,
    );
  });

  it('quotes what a shell would take apart', () => {
    expect(redoCommand(`it's.csv`, [review()], { ...run, folder: '/my runs/$(x)' })).toBe(
      `millrace run 'it'\\''s.csv' --out '/my runs/$(x)' --changed redo`,
    );
  });
});
