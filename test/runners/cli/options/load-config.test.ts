import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../runners/cli/options/load-config.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

describe('loadConfig', () => {
  let work: Workplace;
  let env: Record<string, string>;
  beforeEach(async () => {
    work = await openWorkplace();
    env = { XDG_CONFIG_HOME: join(work.folder, 'user') };
    await mkdir(join(work.folder, 'user/millrace'), { recursive: true });
    await mkdir(join(work.folder, 'project'));
  });
  afterEach(() => work.remove());

  const project = () => join(work.folder, 'project/millrace.config.json');
  const user = () => join(work.folder, 'user/millrace/config.json');
  const write = (path: string, value: unknown) => writeFile(path, JSON.stringify(value));
  const load = (raw: object = {}) => loadConfig({ ...raw }, 'project/edits.csv', { cwd: work.folder, env });

  it('puts flags over the environment over the project over the user', async () => {
    await write(project(), { base_url: 'https://project.test', concurrency: 3, timeout: '5m' });
    await write(user(), { base_url: 'https://user.test', concurrency: 9, rate: 2.5, timeout: '9m' });
    const { raw, from, files } = await load({ timeout: '1m' });
    expect(raw).toMatchObject({
      baseUrl: 'https://project.test',
      concurrency: '3',
      rate: '2.5',
      timeout: '1m',
    });
    expect([from.get('concurrency'), from.get('rate'), from.get('timeout')]).toEqual([
      project(),
      user(),
      undefined,
    ]);
    expect(files).toEqual([project(), user()]);
    env['MILLRACE_BASE_URL'] = 'https://env.test';
    expect((await load()).raw).not.toHaveProperty('baseUrl');
    expect((await load({ baseUrl: 'https://flag.test' })).raw).toMatchObject({
      baseUrl: 'https://flag.test',
    });
  });

  it('ignores a user folder that is named by a relative path: each folder that a command is started in would have its own', async () => {
    await write(user(), { max_cost: 500 });
    env = { XDG_CONFIG_HOME: relative('', join(work.folder, 'user')), HOME: work.folder };
    expect((await load()).files).toEqual([]);
  });

  it('takes a list where an option may be repeated, and one text for a list', async () => {
    await write(project(), { ignore: ['resolutoin', 'Endpoint, old'] });
    expect((await load()).raw).toMatchObject({ ignore: ['resolutoin', 'Endpoint, old'] });
    expect((await load({ ignore: ['x'] })).raw).toMatchObject({ ignore: ['x'] });
    await write(project(), { ignore: 'Kind' });
    expect((await load()).raw).toMatchObject({ ignore: ['Kind'] });
    await write(project(), { ignore: [''] });
    await expect(load()).rejects.toThrow(/ignore: is empty/);
    await write(project(), { ignore: [7] });
    await expect(load()).rejects.toThrow(/ignore/);
  });

  it('knows endpoints by name, the host of the one that is used, and takes paths from where the file lies', async () => {
    const lb = { lb_base_url: 'https://lb.test/', execution_timeout_ms: 5_000, price: 0.01 };
    await write(project(), { endpoints: { tool: lb }, lb_base_url: 'https://other.test' });
    await write(user(), {
      api_key_file: 'key',
      endpoints: { tool: { id: 'x' }, photo: { id: 'abc', mode: 'async' } },
    });
    const { raw } = await load({ endpoint: 'tool' });
    expect(raw).toMatchObject({
      lbBaseUrl: 'https://lb.test',
      apiKeyFile: join(work.folder, 'user/millrace/key'),
      endpoints: {
        tool: { execution_timeout_ms: 5_000, price: { usdPerJob: 0.01 } },
        photo: { id: 'abc', mode: 'async' },
      },
    });
    expect((await load({ endpoint: 'photo' })).raw).toMatchObject({ lbBaseUrl: 'https://other.test' });
    const asked = await load({ endpoint: 'tool', runsyncTimeout: '9s', lbBaseUrl: 'https://flag.test' });
    expect(asked.raw).toMatchObject({
      lbBaseUrl: 'https://flag.test',
      endpoints: { tool: { price: { usdPerJob: 0.01 } } },
    });
    expect(JSON.stringify(asked.raw)).not.toContain('execution_timeout_ms');
  });

  it('leaves the hosts to the emulator with --local', async () => {
    await write(project(), { base_url: 'https://project.test', upload: 's3://bucket', max_cost: 3 });
    const { raw } = await load({ local: true });
    expect(raw).toMatchObject({ maxCost: '3' });
    expect(raw).not.toHaveProperty('baseUrl');
    expect(raw).not.toHaveProperty('upload');
  });

  it('has nothing to say where there is no file', async () => {
    expect(await load({ rate: '3' })).toEqual({
      raw: { rate: '3', endpoints: {} },
      from: new Map(),
      files: [],
    });
  });

  it.each([
    [{ max_cost: 'much' }, 'max_cost: "much" is not an amount: write dollars such as 25 or 0.5'],
    [{ colour: 1 }, 'there is no setting "colour"; there are endpoint, base_url'],
    [{ yes: true }, 'there is no setting "yes"'],
    [{ endpoints: { 'a/b': {} } }, 'endpoints: a/b'],
    [
      { endpoints: { a: { lb_base_url: 'nowhere' } } },
      'endpoints: a: lb_base_url: "nowhere" is not an http or https URL',
    ],
    [
      { endpoints: { a: { execution_timeout_ms: -1 } } },
      'endpoints: a: execution_timeout_ms: is not above 0',
    ],
    [{ endpoints: { a: { price: 'x' } } }, 'endpoints: a: price: is not a price'],
    [{ endpoints: { a: { price: { usdPerJob: -1 } } } }, 'endpoints: a: price: usdPerJob: is below 0'],
    [{ endpoints: { a: { mode: 'x' } } }, 'endpoints: a: mode: is neither "sync" nor "async"'],
    [[], 'millrace.config.json: is not an object {…}'],
    [{ endpoints: [] }, 'endpoints: is not an object {…}'],
    [{ max_cost: null }, 'max_cost: is neither text nor a number'],
    [{ endpoint: ['a'] }, 'endpoint: is neither text nor a number'],
    [{ ignore: 5 }, 'ignore: is neither text nor a list of texts'],
    [{ endpoints: { a: { id: 5 } } }, 'endpoints: a: id: is not text'],
    [{ api_key: 'canary-key' }, 'api_key: an API key does not belong in a configuration file'],
  ])('refuses %j with the file and the place', async (value, why) => {
    await write(project(), value);
    const refused = await load().catch((error: unknown) => error as Error);
    expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(why) });
    expect(refused).toMatchObject({ message: expect.stringContaining(project()) });
    expect(JSON.stringify(refused)).not.toContain('canary');
  });

  it.each([
    ['{"max_cost": 5, "max_cost": 500}', 'has the key "max_cost" twice (character 17); leave one of them'],
    [
      '{"endpoints": {"a": {"price": 5}, "a": {"price": 0.01}}}',
      'has the key "a" twice in endpoints (character 35); leave one of them',
    ],
  ])('refuses %s, of which the last would be taken without a word', async (text, why) => {
    await writeFile(project(), text);
    await expect(load()).rejects.toThrow(`${project()}: ${why}`);
  });

  it('reads a file that an editor has put a byte order mark before', async () => {
    await writeFile(project(), '\uFEFF{"max_cost": 5}');
    expect((await load()).raw).toMatchObject({ maxCost: '5' });
  });

  it('quotes nothing of a file that is no JSON', async () => {
    await writeFile(project(), '{"api_key": canary-key');
    const refused = await load().catch((error: unknown) => error as Error);
    expect(refused).toMatchObject({ message: `${project()}: is not JSON at line 1, column 13` });
  });
});
