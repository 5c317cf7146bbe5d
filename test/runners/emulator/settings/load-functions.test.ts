import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startEmulator } from '../../../../runners/emulator/index.js';
import { loadFunctions } from '../../../../runners/emulator/settings/load-functions.js';
import { asking } from '../../../support/ask-emulator.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-functions-'));
afterAll(() => rmSync(folder, { recursive: true }));

function moduleOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('loadFunctions', () => {
  it('says which file and why when it cannot', async () => {
    await expect(loadFunctions(join(folder, 'none.mjs'))).rejects.toThrow(
      /none\.mjs does not load: Cannot find/,
    );
    await expect(loadFunctions(moduleOf('broken.mjs', 'export const = 1'))).rejects.toMatchObject({
      code: 'emulator-option',
      message: expect.stringMatching(/broken\.mjs does not load: ./),
    });
    await expect(loadFunctions(moduleOf('empty.mjs', 'export const x = 1;'))).rejects.toThrow(
      /exports neither/,
    );
  });

  it('adds to the default functions; the same name replaces one, image-edit stays', async () => {
    const functionsFile = moduleOf(
      'own.mjs',
      `export const queue = { echo: () => 'mine', twice: ({ n }) => 2 * n };`,
    );
    const emulator = await startEmulator({
      functionsFile,
      functions: { routes: { 'GET /own': () => 'too' } },
    });
    const { post, get } = asking(emulator);
    expect((await post('/v2/echo/runsync', { input: {} })).json.output).toBe('mine');
    expect((await post('/v2/twice/runsync', { input: { n: 4 } })).json.output).toBe(8);
    expect((await get('/lb/own')).json).toBe('too');
    expect((await post('/lb/echo', {})).status).toBe(200);
    expect((await get('/v2/image-edit/health')).status).toBe(200);
    await emulator.close();
  });

  it('runs the example of the README', async () => {
    const readme = readFileSync(new URL('../../../../runners/emulator/README.md', import.meta.url), 'utf8');
    const [, example] = /```js\n([^]*?)```/.exec(readme)!;
    const emulator = await startEmulator({ functionsFile: moduleOf('readme.mjs', example!) });
    const { post, get } = asking(emulator);
    const output = async (id: string, input: object) =>
      (await post(`/v2/${id}/runsync`, { input })).json.output;
    expect(await output('word-count', { text: 'to be or not' })).toEqual({ words: 4 });
    expect(await output('countdown', { from: 3 })).toEqual([3, 2, 1]);
    expect(await output('resize', { steps: 1 })).toEqual({ steps: 1, cost: 0.002 });
    expect(emulator.bill().at(-1)).toMatchObject({ costMicroDollars: 2_000 });
    expect((await post('/lb/stats', { numbers: [1, 2] })).json).toEqual({ sum: 3 });
    expect((await get('/lb/words/mill')).status).toBe(200);
    expect(await get('/lb/words/flour')).toMatchObject({
      status: 404,
      json: { error: 'no such word', detail: 'flour' },
    });
    await emulator.close();
  });
});
