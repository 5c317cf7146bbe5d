import { readFileSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../runners/emulator/index.js';
import { type Asking, asking } from '../../support/ask-emulator.js';

const samples = fileURLToPath(new URL('../../../samples/', import.meta.url));
const text = (name: string) => readFileSync(samples + name, 'utf8');
const lines = (name: string) =>
  text(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const edits = parse<Record<string, string>>(text('edits.csv'), { columns: true });
let emulator: Emulator;
let ask: Asking;

beforeAll(async () => {
  emulator = await startEmulator({ files: samples, functionsFile: `${samples}functions.mjs` });
  ask = asking(emulator);
});
afterAll(() => emulator.close());

describe('the samples', () => {
  it('are a dozen edits, of one, two and three pictures, in both formats', () => {
    expect(edits).toHaveLength(12);
    expect(new Set(edits.map(({ id }) => id)).size).toBe(12);
    expect(new Set(edits.map(({ images }) => images!.split(/[ |]/).length))).toEqual(new Set([1, 2, 3]));
    expect(new Set(edits.map(({ output_format }) => output_format))).toEqual(new Set(['png', 'jpeg']));
    expect(edits.map(({ resolution }) => resolution)).toContain('2k');
  });

  it.each(edits)('edit $id succeeds', async ({ images, ...row }) => {
    const fields = ['prompt', 'resolution', 'aspect_ratio', 'output_format'].filter(
      (name) => row[name] !== '',
    );
    const input = Object.fromEntries(fields.map((name) => [name, row[name]]));
    const urls = images!.split(/[ |]/).map((path) => emulator.fileUrl(path));
    const { json } = await ask.post('/v2/image-edit/runsync', { input: { ...input, images: urls } });
    expect(json.error).toBeUndefined();
    const { headers } = await fetch(json.output.image_url);
    expect(headers.get('content-type')).toBe(`image/${row.output_format!}`);
  });

  it.each(lines('jobs.jsonl'))('job $id succeeds', async ({ endpoint, input }) => {
    const { json } = await ask.post(`/v2/${endpoint}/runsync`, { input });
    expect(json).toMatchObject({ status: 'COMPLETED', output: expect.anything() });
  });

  it.each(lines('routes.jsonl'))('route $id succeeds', async ({ route, method = 'POST', body }) => {
    const { status } = method === 'GET' ? await ask.get(`/lb${route}`) : await ask.post(`/lb${route}`, body);
    expect(status).toBe(200);
  });

  it('compute what they say', async () => {
    const output = async (id: string, input: object) =>
      (await ask.post(`/v2/${id}/runsync`, { input })).json.output;
    expect(await output('prime-sieve', { below: 100 })).toEqual({ below: 100, count: 25, largest: 97 });
    expect(await output('prime-sieve', { below: 1_000_000 })).toMatchObject({
      count: 78_498,
      largest: 999_983,
    });
    expect(await output('text-diff', { before: 'kitten', after: 'sitting' })).toEqual({
      distance: 3,
      same: false,
    });
    expect(await output('pi-digits', { digits: 30 })).toEqual({
      digits: 30,
      pi: '3.14159265358979323846264338327',
    });
    expect(await output('collatz-steps', { from: 6 })).toEqual([6, 3, 10, 5, 16, 8, 4, 2, 1]);
    expect(await output('word-count', { text: 'a b a', top: 1 })).toEqual({
      words: 3,
      different: 2,
      top: { a: 2 },
    });
    expect((await ask.get('/lb/roman/1984')).json).toEqual({ number: 1984, roman: 'MCMLXXXIV' });
    expect((await ask.post('/lb/slug', { title: 'Die Mühle am Bach: ein Märchen' })).json).toEqual({
      slug: 'die-muhle-am-bach-ein-marchen',
    });
    expect((await ask.post('/lb/stats', { numbers: [1, 2, 3, 4] })).json).toMatchObject({
      mean: 2.5,
      median: 2.5,
      least: 1,
      most: 4,
    });
    expect((await ask.post('/lb/stats', { numbers: [] })).status).toBe(400);
  });

  it('have pictures under 100 kB each, every one of them used', () => {
    for (const name of readdirSync(`${samples}pictures`)) {
      expect(statSync(`${samples}pictures/${name}`).size).toBeLessThan(100_000);
      expect(text('edits.csv')).toContain(`pictures/${name}`);
    }
  });
});
