import { describe, expect, it } from 'vitest';
import { describeInvalid, describeProblem } from '../../../../runners/batch/manifest/problem-tally.js';
import { planManifest, type Plan } from '../../../../runners/batch/manifest/plan-manifest.js';
import { readManifest } from '../../../../runners/batch/manifest/read-manifest.js';
import type { Row } from '../../../../runners/batch/manifest/manifest-row.js';
import { inChunks, jsonLines, type TestSettings } from '../../../support/manifest-items.js';

const url = 'https://e.com/1.png';
const prices: Record<string, number> = { '1k': 87_500, '2k': 130_000, '4k': 175_000 };
const priceOf = ({ resolution }: Row): number | null =>
  resolution === undefined ? null : (prices[resolution] ?? null);

function plan(text: string, given: TestSettings = {}): Promise<Plan> {
  const format = given.format ?? 'csv';
  const settings = { name: 'edits.csv', format, gzip: false, endpoint: 'e', ...given };
  return planManifest(readManifest(inChunks(Buffer.from(text)), settings), { priceOf });
}

describe('planManifest', () => {
  it('counts and prices what would be sent', async () => {
    const text = [
      'id,images,prompt,resolution,input.seed,route,title,Resolution',
      `a,${url},x,,,,t,`,
      `b,${url} ${url} ${url} ${url},x,4K,1,,t,`,
      `,${url},x,2k,,,t,`,
      `,${url},x,2k,,,u,`,
      ',,,,7,,,',
      ',,,,,/info,,',
      'c,,x,8k,,,,',
    ].join('\n');
    const { firstInvalid, problems, ...rest } = await plan(text);
    expect(problems.map(({ rows, lines }) => [rows, lines])).toEqual([
      [1, [8]],
      [1, [8]],
    ]);
    expect(rest).toEqual({
      rows: 7,
      byKind: { edit: 4, job: 1, route: 1 },
      byResolution: { '1k': 1, '2k': 2, '4k': 1 },
      repeats: 1,
      derivedIds: 4,
      invalid: 1,
      otherProblems: 0,
      columnsSent: ['images', 'prompt', 'resolution', 'input.seed', 'route'],
      columnsNotSent: ['title', 'Resolution'],
      warnings: ['column "Resolution" is not sent; did you mean "resolution"?'],
      imagesBeyondRecommended: 1,
      cost: { estimated: 87_500 + 2 * 130_000 + 175_000, unpriced: 2 },
    });
    expect(firstInvalid.flatMap(describeInvalid)).toEqual([
      'line 8 (row 7, id "c"), column images: is missing',
      'line 8 (row 7, id "c"), column resolution: "8k" is not one of 1k, 2k, 4k',
    ]);
  });

  it('is a plan of nothing for a header alone', async () => {
    expect(await plan('id,prompt\n')).toMatchObject({
      rows: 0,
      invalid: 0,
      cost: { estimated: 0, unpriced: 0 },
    });
  });

  it('counts the rows that have a problem, and not how often one row has it', async () => {
    const { problems } = await plan('images,prompt\nftp://a ftp://b,x\nftp://c ftp://d ftp://e,x\n');
    expect(problems.map(({ rows, lines }) => [rows, lines])).toEqual([[2, [2, 3]]]);
    expect(problems.flatMap(describeProblem)).toEqual([
      expect.stringContaining('line 2 (row 1), column images: image 1: '),
      expect.stringContaining('line 2 (row 1), column images: image 2: '),
      '  1 other row is like it: line 3',
    ]);
  });

  it('names an axis that nothing depends on by its option, not as a column', async () => {
    const { firstInvalid } = await plan(`id,images,prompt\na,${url},x\n`, {
      each: { style: ['oil', 'ink'] },
    });
    expect(firstInvalid.flatMap(describeInvalid)[0]).toContain(
      'line 2 (row 1, id "a.style-oil"), --each style: nothing',
    );
  });

  it('keeps the first 20 invalid rows and counts the others', async () => {
    const { invalid, firstInvalid } = await plan(`images,prompt\n${',x\n'.repeat(50)}`);
    expect([invalid, firstInvalid.length, firstInvalid[19]?.line]).toEqual([50, 20, 21]);
  });

  it('keeps as many as it is told', async () => {
    const items = readManifest(inChunks(Buffer.from(`prompt\n${'x\n'.repeat(9)}`)), {
      name: 'x.csv',
      format: 'csv',
      gzip: false,
    });
    expect((await planManifest(items, { priceOf, maxInvalidShown: 3 })).firstInvalid).toHaveLength(3);
  });

  it('warns of near misses also when they make every row invalid', async () => {
    const { warnings, invalid } = await plan(`id,image,promt,aspect-ratio\na,${url},x,16:9\n`);
    expect(invalid).toBe(1);
    expect(warnings).toEqual([
      'column "image" is not sent; did you mean "images"?',
      'column "promt" is not sent; did you mean "prompt"?',
      'column "aspect-ratio" is not sent; did you mean "aspect_ratio"?',
    ]);
  });

  it('warns of columns that a row fills and another kind would send', async () => {
    const text = jsonLines(
      { kind: 'job', input: {}, resolution: '4k', 'body.x': 1 },
      { route: '/x', endpoint: 'e', prompt: 'x' },
      { images: url, prompt: 'x' },
    );
    expect((await plan(text, { format: 'jsonl' })).warnings).toEqual([
      'column "resolution" is filled on rows of kind job, which do not send it; did you mean "input.resolution"?',
      'column "body.x" is filled on rows of kind job, which do not send it',
      'column "prompt" is filled on rows of kind route, which do not send it',
      'column "endpoint" is filled on rows of kind route, which do not send it: they go to the load-balanced host',
    ]);
  });

  it('does not warn of columns that are empty there', async () => {
    expect((await plan(`images,prompt,route,method\n${url},x,,\n,,/x,GET\n`)).warnings).toEqual([]);
  });

  it('does not price what is not bought', async () => {
    const failure = (code: string, paid: string): object => ({
      images: url,
      prompt: code,
      error: { code, message: '', retryable: false, paid },
      millrace: { row: 1, kind: 'edit', endpoint: 'e', jobId: `j of ${code}`, attempts: 1, settledAt: '' },
    });
    const text = jsonLines(
      { jobId: 'j' },
      failure('deadline', 'maybe'),
      failure('unknown', 'maybe'),
      failure('download', 'yes'),
      failure('job-failed', 'no'),
    );
    expect(await plan(text, { format: 'jsonl' })).toMatchObject({
      rows: 5,
      invalid: 0,
      cost: { estimated: 87_500, unpriced: 0 },
      columnsSent: ['images', 'prompt'],
    });
  });

  it('tells of a bounded number of columns', async () => {
    const text = jsonLines(...Array.from({ length: 3_000 }, (_, at) => ({ input: {}, [`own${at}`]: 1 })));
    expect((await plan(text, { format: 'jsonl' })).columnsNotSent).toHaveLength(1_000);
  });
});

describe('describeInvalid', () => {
  it('lets no control characters through', () => {
    const lines = describeInvalid({
      row: 6,
      line: 7,
      id: 'x',
      problems: [{ column: 'a\u001b[31m', message: 'b\u202ec\u0007\n\u2028d' }],
    });
    expect(lines).toEqual(['line 7 (row 6, id "x"), column a?[31m: b?c???d']);
  });
});
