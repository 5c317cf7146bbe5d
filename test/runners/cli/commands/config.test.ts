import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace.config.json', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
  });
  afterEach(() => work.close());

  it('names endpoints for --endpoint and for rows, with mode and price, and `config` says what is in force', async () => {
    const named = { id: 'echo', mode: 'sync', price: 0.02 };
    await work.write('millrace.config.json', [JSON.stringify({ max_cost: 1, endpoints: { mine: named } })]);
    await work.write('rows.jsonl', [
      JSON.stringify({ id: 'a', input: { n: 1 } }),
      JSON.stringify({ id: 'b', endpoint: 'mine', input: { n: 2 } }),
    ]);
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--endpoint', 'mine');
    expect(stderr).toContain('may cost     $0.04');
    expect(code).toBe(0);
    expect(work.emulator.bill().map(({ operation }) => operation)).toEqual(['runsync', 'runsync']);
    expect(await work.json('rows.out/summary.json')).toMatchObject({ cost: { cap: 1 } });
    const config = await work.call('config', 'rows.jsonl', '--endpoint', 'mine');
    expect(config.code).toBe(0);
    expect(config.stdout).toMatch(/^api_key +\*{8} +MILLRACE_API_KEY$/m);
    expect(config.stdout).toMatch(/^endpoint +mine +the command line$/m);
    expect(config.stdout).toMatch(/^base_url +http:\/\/127\S+ +MILLRACE_BASE_URL$/m);
    expect(config.stdout).toMatch(/^max_cost +1 +\/.*millrace\.config\.json$/m);
    expect(config.stdout).toMatch(/^timeout +1h +the default$/m);
    expect(config.stdout).toContain('endpoint mine: {"id":"echo","mode":"sync","price":{"usdPerJob":0.02}}');
    expect(config.stdout).not.toContain(work.env['MILLRACE_API_KEY']);
  });

  it('shows the cap that the run of the manifest remembers, which overrides the one of the file', async () => {
    await work.write('millrace.config.json', [JSON.stringify({ max_cost: 1 })]);
    await work.write('rows.jsonl', [JSON.stringify({ id: 'a', endpoint: 'echo', input: {} })]);
    const capOf = async (...args: string[]) =>
      /^max_cost.*$/m
        .exec((await work.call('config', 'rows.jsonl', ...args)).stdout)?.[0]
        .replace(/ +/g, ' ');
    for (const cap of ['2.5', 'none']) {
      const run = await work.call('run', 'rows.jsonl', '--max-cost', cap, '--assume-price', '0.02');
      expect(run).toMatchObject({ code: 0 });
      expect(await capOf()).toBe(`max_cost ${cap} rows.out, which remembers it`);
    }
    expect(await capOf('--max-cost', '3')).toBe('max_cost 3 the command line');
    expect(await capOf('--out', 'other')).toMatch(/^max_cost 1 \/.*millrace\.config\.json$/);
  });

  it('shows the host alone of an address that is a secret', async () => {
    const address = 'https://hooks.example.test/services/canary?token=canary';
    await work.write('millrace.config.json', [JSON.stringify({ notify: address })]);
    for (const given of [[], ['--notify', address]]) {
      const { code, stdout } = await work.call('config', 'rows.jsonl', ...given);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^notify +https:\/\/hooks\.example\.test\/… /m);
      expect(stdout).not.toContain('canary');
    }
  });
});
